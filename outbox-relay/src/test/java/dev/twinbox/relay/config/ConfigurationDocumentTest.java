package dev.twinbox.relay.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.config.Setting;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Keeps {@code docs/reference/configuration.md} true: it has one row for each key, word for word as in the code, and no
 * other.
 */
class ConfigurationDocumentTest {

    private static final Path DOCUMENT = Path.of("..", "docs", "reference", "configuration.md");
    private static final Path COMMAND_LINE = Path.of("..", "docs", "reference", "command-line.md");

    @Test
    void theDocumentHasTheRowOfEachKeyOfTheRelay() throws IOException {
        assertThat(rows())
                .as("rows of %s; put in or take out what differs", DOCUMENT)
                .containsAll(
                        RelaySettings.all().map(ConfigurationDocumentTest::row).toList());
    }

    @Test
    void theDocumentNamesNoKeyOfTheRelayThatDoesNotExist() throws IOException {
        List<String> keys = Stream.concat(RelaySettings.all().map(Setting::key), Stream.of(KafkaSettings.PREFIX + "*"))
                .toList();

        assertThat(rows().stream().map(row -> row.split("`", 3)[1]).filter(key -> key.startsWith("twinbox.relay.")))
                .isSubsetOf(keys);
    }

    @Test
    void theDocumentNamesEachKafkaSettingThatTheRelayRefuses() throws IOException {
        String text = Files.readString(DOCUMENT);

        assertThat(KafkaSettings.FIXED.keySet())
                .allSatisfy(name -> assertThat(text).contains('`' + name + '`'));
    }

    @Test
    void thePageOfTheCommandLineExplainsEachExitCode() throws IOException {
        assertThat(Files.readAllLines(COMMAND_LINE))
                .containsAll(Arrays.stream(ExitCode.values())
                        .map(code -> "| " + code.number() + " | " + code.meaning() + " |")
                        .toList());
    }

    private static List<String> rows() throws IOException {
        return Files.readAllLines(DOCUMENT).stream()
                .filter(line -> line.startsWith("| `twinbox."))
                .toList();
    }

    static String row(Setting<?> setting) {
        return "| `" + setting.key() + "` | " + setting.type() + " | " + setting.shownDefault() + " | "
                + setting.description() + " |";
    }
}
