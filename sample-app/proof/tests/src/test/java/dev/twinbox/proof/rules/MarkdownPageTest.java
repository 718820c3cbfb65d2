package dev.twinbox.proof.rules;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.proof.rules.MarkdownPage.Text;
import org.junit.jupiter.api.Test;

class MarkdownPageTest {

    @Test
    void aSentenceGoesOnInTheNextLineAndEndsWithItsMark() {
        assertThat(MarkdownPage.parse("One,\ntwo. Three? \"Four!\" Five\n\nSix").sentences())
                .extracting(Text::text)
                .containsExactly("One, two.", "Three?", "\"Four!\"", "Five", "Six");
    }

    @Test
    void aMarkBeforeASmallLetterOrInsideCodeEndsNoSentence() {
        assertThat(MarkdownPage.parse("Use 3.0, e.g. this, or `a. B` of it. `x` is next.")
                        .sentences())
                .extracting(Text::text)
                .containsExactly("Use 3.0, e.g. this, or `a. B` of it.", "`x` is next.");
    }

    @Test
    void headingsItemsAndQuotesBeginSentencesAndCodeIsNone() {
        String page = """
                # Title
                - one
                  more
                1. two
                > quoted
                ```
                code.
                ```
                after
                """;

        assertThat(MarkdownPage.parse(page).sentences())
                .containsExactly(
                        new Text(1, "Title"), new Text(2, "one more"), new Text(4, "two quoted"), new Text(9, "after"));
    }

    @Test
    void codeIsOneWordAndALinkIsItsText() {
        assertThat(new Text(1, "run `a b c` of **[two words](some/where.md)** – now").words())
                .isEqualTo(6);
    }

    @Test
    void cellsAreSplitAtBarsThatAreNotEscaped() {
        assertThat(MarkdownPage.parse("| a | b |\n|---|:-:|\n| `x\\|y` |  |\n").cells())
                .containsExactly(new Text(1, "a"), new Text(1, "b"), new Text(3, "`x\\|y`"));
    }

    @Test
    void linksAndPicturesAreFoundAcrossLinesAndInTablesButNotInCode() {
        String page = """
                See [a long
                name](one.md) and ![picture](two.png). Not `[three](three.md)`.

                | [four](four.md#x) |
                |---|

                ```
                [five](five.md)
                ```
                """;

        assertThat(MarkdownPage.parse(page).links())
                .extracting(Text::text)
                .containsExactly("one.md", "two.png", "four.md#x");
    }

    @Test
    void anchorsFollowTheRuleOfGitHub() {
        String page = """
                # `bench relay`: what's left, of A_B?
                ## Exactly-once publication (`a.b=c`)
                ## [A link](x.md) – and more
                ## Twice
                ## Twice
                """;

        assertThat(MarkdownPage.parse(page).anchors())
                .containsExactly(
                        "bench-relay-whats-left-of-a_b",
                        "exactly-once-publication-abc",
                        "a-link--and-more",
                        "twice",
                        "twice-1");
    }
}
