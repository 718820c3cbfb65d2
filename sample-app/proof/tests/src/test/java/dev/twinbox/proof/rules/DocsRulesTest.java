package dev.twinbox.proof.rules;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each rule of {@link Docs} is kept by a small set of pages, and names the place when it is broken. */
class DocsRulesTest {
    private static final String WORDS = "word ".repeat(9);

    @TempDir
    private Path root;

    @BeforeEach
    void writePagesWithoutFault() throws IOException {
        write("README.md", "# Project\n\nRead [the docs](docs/README.md) and [how to](docs/how-to.md#second-step).\n");
        write("docs/README.md", "# Docs\n\n[How to](how-to.md), [decisions](adr/README.md), [above](#docs).\n");
        write("docs/how-to.md", "# How to\n\n## Second step\n\n" + WORDS + "end.\n");
        write("docs/adr/README.md", "| # | decision |\n|---|---|\n| [1](0001-first.md) | first |\n");
        write("docs/adr/0001-first.md", "# 1. First\n");
    }

    @Test
    void pagesWithoutFaultAreAccepted() throws IOException {
        Docs docs = Docs.below(root);

        assertThat(docs.longSentences()).isEmpty();
        assertThat(docs.longCells()).isEmpty();
        assertThat(docs.longLines()).isEmpty();
        assertThat(docs.brokenLinks()).isEmpty();
        assertThat(docs.unlistedDecisions()).isEmpty();
        assertThat(docs.unreachablePages()).isEmpty();
    }

    @Test
    void aSentenceOf31WordsIsTooLong() throws IOException {
        write("docs/how-to.md", "# How to\n\n## Second step\n\nA fine one. The " + lines(3) + "Is 3.\nAnother.\n");
        assertThat(Docs.below(root).longSentences()).isEmpty();

        write(
                "docs/how-to.md",
                "# How to\n\n## Second step\n\nA fine one. The " + lines(3) + "is too long.\nAnother.\n");
        assertThat(Docs.below(root).longSentences())
                .singleElement()
                .asString()
                .startsWith("docs/how-to.md, line 5: The word ")
                .endsWith("is too long.");
    }

    @Test
    void aTableCellOf41WordsIsTooLong() throws IOException {
        String forty = "word ".repeat(40);
        write("docs/how-to.md", "## Second step\n\n| a | b |\n|---|---|\n| " + forty + "| " + forty + "|\n");
        assertThat(Docs.below(root).longCells()).isEmpty();

        write("docs/how-to.md", "## Second step\n\n| a | b |\n|---|---|\n| fine | " + forty + "more |\n");
        assertThat(Docs.below(root).longCells()).singleElement().asString().startsWith("docs/how-to.md, line 5: word ");
    }

    @Test
    void aLineOf121CharactersIsTooLongOutsideTablesAndCode() throws IOException {
        String line = "é".repeat(120);
        String table = "| " + "é".repeat(200) + " |\n|---|\n";
        String code = "```sh\n" + "x".repeat(200) + "\n```\n";
        write("docs/how-to.md", "## Second step\n\n" + line + "\n\n" + table + "\n" + code);
        assertThat(Docs.below(root).longLines()).isEmpty();

        write("docs/how-to.md", "## Second step\n\n" + line + "é\n");
        assertThat(Docs.below(root).longLines()).singleElement().asString().startsWith("docs/how-to.md, line 3: é");
    }

    @Test
    void aLinkToAFileThatIsNotThereIsBroken() throws IOException {
        write("README.md", "[gone](docs/gone.md), [the web](https://example.org/gone.md), `[code](gone.md)`\n");

        assertThat(Docs.below(root).brokenLinks()).containsExactly("README.md, line 1: docs/gone.md");
    }

    @Test
    void aLinkToAHeadingThatIsNotThereIsBroken() throws IOException {
        write("README.md", "[gone](docs/how-to.md#third-step)\n\n| [here](#gone) |\n|---|\n");

        assertThat(Docs.below(root).brokenLinks())
                .containsExactly("README.md, line 1: docs/how-to.md#third-step", "README.md, line 3: #gone");
    }

    @Test
    void aDecisionThatTheIndexDoesNotListIsNamed() throws IOException {
        write("docs/adr/0002-second.md", "# 2. Second\n");

        assertThat(Docs.below(root).unlistedDecisions()).containsExactly("docs/adr/0002-second.md");
    }

    @Test
    void aPageToWhichNoLinkLeadsIsNamed() throws IOException {
        write("docs/lost.md", "# Lost\n\n[Further](lost-too.md)\n");
        write("docs/lost-too.md", "# Lost, too\n\n[Back](lost.md)\n");
        write("README.md", "[Lost](docs/lost.md) has a link from elsewhere, which is not enough.\n");

        assertThat(Docs.below(root).unreachablePages()).containsExactlyInAnyOrder("docs/lost.md", "docs/lost-too.md");
    }

    private static String lines(int number) {
        return (WORDS + "\n").repeat(number);
    }

    private void write(String file, String text) throws IOException {
        Path path = root.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
    }
}
