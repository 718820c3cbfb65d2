package dev.twinbox.proof.errors;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Shows on small sources what {@link ErrorsTest} finds, and that its rules can be broken. */
class ErrorsRulesTest {
    @TempDir
    private Path root;

    @Test
    void aMessageWithoutARemedyIsFound() throws IOException {
        assertThat(messages("throw new SchemaException(\"table \" + name + \" is broken\");"))
                .singleElement()
                .satisfies(message -> assertThat(message.remedy()).isNull())
                .satisfies(message -> assertThat(message.text()).isEqualTo("table … is broken"));
    }

    @Test
    void theRemedyBeginsWithTheFirstClauseThatTellsWhatToDo() throws IOException {
        assertThat(messages("throw new SchemaException(\"table \" + name + \" is broken: no index; restore it\");"))
                .singleElement()
                .extracting(Message::cut)
                .isEqualTo(new Remedy.Cut("table … is broken: no index", "restore it"));
    }

    @Test
    void aConditionBelongsToItsRemedy() {
        assertThat(Remedy.cut("the position is gone. If it cannot be found, run rebase"))
                .isEqualTo(new Remedy.Cut("the position is gone", "If it cannot be found, run rebase"));
    }

    @Test
    void whatIsAllowedIsARemedy() {
        assertThat(Remedy.cut("topic … has … characters: Kafka allows 1 to 249").remedy())
                .isEqualTo("Kafka allows 1 to 249");
    }

    @Test
    void aRemedyInTheJavadocStandsInForOneInTheText() throws IOException {
        assertThat(messages(
                        "throw new SchemaException(\"table \" + name + \" is broken\");",
                        "Does it. <b>Remedy.</b> Restore it."))
                .singleElement()
                .extracting(Message::remedy)
                .isEqualTo("Restore it.");
    }

    @Test
    void constantsAndKeysOfSettingsAreLookedUp() throws IOException {
        assertThat(messages("problems.add(KEY.key() + \" is wrong: \" + WHAT);"))
                .singleElement()
                .extracting(Message::text)
                .isEqualTo("twinbox.table is wrong: correct it");
    }

    @Test
    void theTwoWordingsOfAConditionAreTwoMessages() throws IOException {
        assertThat(messages(
                        "problems.add(name.isEmpty() ? \"there is none: add one\" : \"there are two: remove one\");"))
                .extracting(Message::text)
                .containsExactly("there is none: add one", "there are two: remove one");
    }

    @Test
    void aMessageHandedOnIsNotListedAgain() throws IOException {
        assertThat(messages("throw new SchemaException(e.getMessage());")).isEmpty();
    }

    @Test
    void aMovedMessageChangesNothingAnotherTextDoes() throws IOException {
        String page = page("throw new SchemaException(\"table is broken: restore it\");");
        String moved = page("int line = 1;\n\n throw new SchemaException(\"table is broken: restore it\");");
        String changed = page("throw new SchemaException(\"table is broken: repair it\");");

        assertThat(moved).isEqualTo(page);
        assertThat(changed).isNotEqualTo(page);
    }

    private String page(String statement) throws IOException {
        Sources sources = sources(statement, "Does it.");
        return new ErrorsPage(sources, Messages.in(sources)).text();
    }

    private List<Message> messages(String statement) throws IOException {
        return messages(statement, "Does it.");
    }

    private List<Message> messages(String statement, String javadoc) throws IOException {
        return Messages.in(sources(statement, javadoc));
    }

    private Sources sources(String statement, String javadoc) throws IOException {
        Path folder = Files.createDirectories(root.resolve("module/src/main/java"));
        Files.writeString(folder.resolve("Some.java"), """
                package some;
                class Some {
                    static final String WHAT = "correct it";
                    static final Setting KEY = Setting.text("twinbox.table");
                    /** %s */
                    void run(String name) {
                        %s
                    }
                }
                """.formatted(javadoc, statement));
        return Sources.of(root, List.of("module"));
    }
}
