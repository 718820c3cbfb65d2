package dev.twinbox.proof.rules;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The rules that README.md and every page below docs keep; {@link DocsRulesTest} shows that each of them can be broken. */
class DocsTest {
    private static final Path ROOT = Path.of(System.getProperty("twinbox.root"));

    private final Docs docs;

    DocsTest() throws IOException {
        docs = Docs.below(ROOT);
    }

    @Test
    void theReadmeQuotesWhatCiRuns() throws IOException {
        String command = Files.readString(ROOT.resolve(".ci/run"))
                .lines()
                .filter(line -> line.startsWith("exec "))
                .findFirst()
                .orElseThrow()
                .replace("exec ", "");

        assertThat(Files.readString(ROOT.resolve("README.md"))).contains("CI runs `" + command + "`");
    }

    @Test
    void allPagesAreRead() {
        assertThat(docs.pages()).isGreaterThan(30);
    }

    @Test
    void sentencesAreShort() {
        assertThat(docs.longSentences())
                .as("sentences of more than %d words", Docs.WORDS_IN_A_SENTENCE)
                .isEmpty();
    }

    @Test
    void tableCellsAreShort() {
        assertThat(docs.longCells())
                .as("table cells of more than %d words", Docs.WORDS_IN_A_CELL)
                .isEmpty();
    }

    @Test
    void linesAreWrapped() {
        assertThat(docs.longLines())
                .as("lines of more than %d characters outside tables and code", Docs.CHARACTERS_IN_A_LINE)
                .isEmpty();
    }

    @Test
    void linksLeadSomewhere() {
        assertThat(docs.brokenLinks()).as("links without a target").isEmpty();
    }

    @Test
    void theIndexOfDecisionsIsComplete() {
        assertThat(docs.unlistedDecisions())
                .as("decisions that docs/adr/README.md does not list")
                .isEmpty();
    }

    @Test
    void everyPageCanBeReachedFromTheIndex() {
        assertThat(docs.unreachablePages())
                .as("pages to which no link leads from docs/README.md")
                .isEmpty();
    }
}
