package dev.twinbox.proof.endtoend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.twinbox.proof.endtoend.Tutorial.Type;
import dev.twinbox.proof.endtoend.Tutorial.WriteFile;
import org.junit.jupiter.api.Test;

/** What {@link TutorialIT} takes from the page, and when it takes an output for wrong. */
class TutorialTest {

    @Test
    void filesAndCommandsComeInTheOrderOfThePage() {
        assertThat(Tutorial.read("""
                        # Page

                        Write a file.

                        `src/a.properties`:

                        ```properties
                        a=1

                        b=2
                        ```

                        ```sh
                        cat a
                        ```

                        ```text
                        a=1
                        ```

                        ```sh
                        true
                        ```
                        """))
                .containsExactly(
                        new WriteFile("src/a.properties", "a=1\n\nb=2\n"),
                        new Type("cat a", "a=1"),
                        new Type("true", ""));
    }

    @Test
    void aBlockThatNobodyWouldRunIsRefused() {
        assertThatThrownBy(() -> Tutorial.read("An example:\n\n```java\nint i;\n```\n"))
                .hasMessageContaining("int i;");
        assertThatThrownBy(() -> Tutorial.read("```sh\ntrue\n```\n\nIt prints:\n\n```text\na\n```\n"))
                .hasMessageContaining("no output of commands");
        assertThatThrownBy(() -> Tutorial.read("```bash\ntrue\n```\n")).hasMessageContaining("in bash");
    }

    @Test
    void anOutputIsThatOfThePageLineByLine() {
        Type typed = new Type("cat a", "one\ntwo");

        assertThat(typed.isExpected("one\ntwo")).isTrue();
        assertThat(typed.isExpected("one\ntwo\nthree")).isFalse();
        assertThat(typed.isExpected("one")).isFalse();
        assertThat(typed.isExpected("")).isFalse();
    }

    @Test
    void commandsWithoutAnOutputOnThePagePrintNothing() {
        assertThat(new Type("true", "").isExpected("")).isTrue();
        assertThat(new Type("true", "").isExpected("oops")).isFalse();
    }

    @Test
    void anEllipsisStandsForTheRestOfALineOrForLines() {
        assertThat(new Type("cat a", "id: … end").isExpected("id: 7\tend")).isTrue();
        assertThat(new Type("cat a", "id: … end").isExpected("id: 7\nend")).isFalse();
        assertThat(new Type("cat a", "…\nlast").isExpected("first\nsecond\nlast"))
                .isTrue();
        assertThat(new Type("cat a", "…\nlast").isExpected("last")).isTrue();
        assertThat(new Type("cat a", "…\nlast").isExpected("first\nlast one")).isFalse();
    }
}
