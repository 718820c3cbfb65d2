package dev.twinbox.proof.errors;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.proof.rules.ReleasedModules;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Every message that a user can meet has a remedy, and {@code docs/reference/errors.md} lists them all. */
class ErrorsTest {
    private static final Path ROOT = Path.of(System.getProperty("twinbox.root"));
    private static final Path DOCUMENT = ROOT.resolve("docs/reference/errors.md");

    /** Writes the document instead of comparing it. */
    private static final boolean WRITE = Boolean.getBoolean("twinbox.it.write-errors");

    private final Sources sources;
    private final List<Message> messages;

    ErrorsTest() throws IOException {
        sources = Sources.of(ROOT, ReleasedModules.FOLDERS);
        messages = Messages.in(sources);
    }

    @Test
    void messagesAreFoundInEachModule() {
        assertThat(messages).hasSizeGreaterThan(150);
        assertThat(messages)
                .extracting(message -> message.unit().module())
                .as("modules with messages")
                .containsAll(ReleasedModules.FOLDERS);
        assertThat(messages).extracting(Place::of).as("places with messages").contains(Place.values());
    }

    @Test
    void everyMessageHasARemedy() {
        assertThat(messages.stream().filter(message -> message.remedy() == null))
                .as("messages without a remedy, neither in the text nor as <b>Remedy.</b> in the Javadoc")
                .isEmpty();
    }

    @Test
    void theDocumentListsThem() throws IOException {
        String page = new ErrorsPage(sources, messages).text();
        if (WRITE) {
            Files.writeString(DOCUMENT, page);
        }
        assertThat(Files.readString(DOCUMENT))
                .as("docs/reference/errors.md; write it anew with -Dtwinbox.it.write-errors=true")
                .isEqualTo(page);
    }
}
