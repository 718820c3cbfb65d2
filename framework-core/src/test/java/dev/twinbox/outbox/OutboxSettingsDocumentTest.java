package dev.twinbox.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.config.Setting;
import dev.twinbox.schema.TableSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Keeps the producer's part of {@code docs/reference/configuration.md} true. */
class OutboxSettingsDocumentTest {

    private static final Path DOCUMENT = Path.of("..", "docs", "reference", "configuration.md");

    @Test
    void theDocumentHasTheRowOfEachKeyAndNoOther() throws IOException {
        assertThat(rows())
                .as("rows of %s; put in or take out what differs", DOCUMENT)
                .containsExactlyInAnyOrderElementsOf(
                        Stream.concat(OutboxSettings.ALL.stream(), TableSettings.ALL.stream())
                                .map(OutboxSettingsDocumentTest::row)
                                .toList());
    }

    private static List<String> rows() throws IOException {
        return Files.readAllLines(DOCUMENT).stream()
                .filter(line -> line.startsWith("| `" + OutboxSettings.PREFIX))
                .toList();
    }

    private static String row(Setting<?> setting) {
        return "| `" + setting.key() + "` | " + setting.type() + " | " + setting.shownDefault() + " | "
                + setting.description() + " |";
    }
}
