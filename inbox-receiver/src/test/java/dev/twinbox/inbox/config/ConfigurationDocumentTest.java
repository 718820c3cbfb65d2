package dev.twinbox.inbox.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ConfigurationDocumentTest {

    @Test
    void theReceiversTableSaysWhatTheCodeSays() throws IOException {
        List<String> expected = Stream.concat(InboxSettings.ALL.stream(), InboxSettings.FAMILIES.stream())
                .map(setting -> "| `" + setting.key() + "` | " + setting.type() + " | " + setting.shownDefault() + " | "
                        + setting.description() + " |")
                .toList();
        assertThat(tableRows("## Receiver")).containsExactlyElementsOf(expected);
    }

    @Test
    void everySettingOfKafkaThatIsFixedIsNamed() throws IOException {
        String section = section("## Receiver");
        assertThat(ConsumerSettings.fixed())
                .isNotEmpty()
                .allSatisfy(name -> assertThat(section).contains("`" + name + "`"));
    }

    private static List<String> tableRows(String heading) throws IOException {
        return section(heading).lines().filter(line -> line.startsWith("| `")).toList();
    }

    private static String section(String heading) throws IOException {
        String document = Files.readString(Path.of("..", "docs", "reference", "configuration.md"));
        String behind = document.substring(document.indexOf(heading + "\n") + heading.length());
        int next = behind.indexOf("\n## ");
        return next < 0 ? behind : behind.substring(0, next);
    }
}
