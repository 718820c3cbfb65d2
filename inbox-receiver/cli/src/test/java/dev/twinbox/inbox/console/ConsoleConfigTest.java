package dev.twinbox.inbox.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.twinbox.config.Setting;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** One mistake at a time: the message names key, value and remedy. And the document says what the code does. */
class ConsoleConfigTest {
    private static final Path DOCUMENT = Path.of("..", "..", "docs", "reference", "configuration.md");

    @Test
    void theDocumentHasTheRowOfEachKeyAndNoOthers() throws IOException {
        assertThat(Files.readAllLines(DOCUMENT).stream().filter(line -> line.startsWith("| `twinbox.console.")))
                .containsExactlyElementsOf(ConsoleConfig.HTTP.all().stream()
                        .map(ConsoleConfigTest::row)
                        .toList());
    }

    private static String row(Setting<?> setting) {
        return "| `" + setting.key() + "` | " + setting.type() + " | " + setting.shownDefault() + " | "
                + setting.description() + " |";
    }

    @ParameterizedTest(name = "{0} = {1}")
    @CsvSource(delimiter = '|', textBlock = """
            twinbox.console.port | 99999 | whole number from 0 to 65535
            twinbox.console.prot | 1 | did you mean twinbox.console.port?
            twinbox.console.names | a b | names of hosts
            twinbox.console.operator-token | short | 16 to 200 printable characters
            twinbox.console.insecure | yes | must be one of false, true
            twinbox.console.host | 0.0.0.0 | twinbox.console.insecure=true
            twinbox.inbox.kafka.bootstrap.servers | broker | "broker" is not
            twinbox.inbox.kafka.bootstrap.servers | a:1,b: | "b:" is not
            """)
    void aWrongValueIsRefused(String key, String value, String expected) {
        assertThatThrownBy(() -> ConsoleConfig.read(null, Map.of(), Map.of(key, value)))
                .isInstanceOf(IllegalArgumentException.class)
                .message()
                .contains(key, expected);
    }

    @Test
    void theFileOfTheApplicationCanBeUsed(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("application.properties");
        Files.writeString(file, """
                twinbox.inbox.group=shipping
                twinbox.inbox.data-source=java:app/jdbc/shipping
                twinbox.inbox.kafka.bootstrap.servers=127.0.0.1:9092
                twinbox.inbox.kafka.security.protocol=SSL
                twinbox.outbox.source=/orders
                """);

        ConsoleConfig config = ConsoleConfig.read(file, Map.of("TWINBOX_CONSOLE_PORT", "0"), Map.of());

        assertThat(config.address().http().port()).isZero();
        assertThat(config.kafka()).isNotNull();
        assertThat(config.kafka().settings()).containsEntry("security.protocol", "SSL");
        assertThat(ConsoleConfig.read(null, Map.of(), Map.of()).kafka()).isNull();
    }
}
