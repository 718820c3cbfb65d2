package dev.twinbox.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** {@code docs/configuration.md} lists, in table rows that begin with the key in backticks, what the code knows. */
class OutboxKeyTest {

    private static final Pattern ROW = Pattern.compile("^\\|\\s*`(twinbox\\.outbox\\.[^`]+)`\\s*\\|.*$");

    @Test
    void the_documentation_lists_every_key_and_no_other() throws Exception {
        List<String> rows = documentedRows();
        assumeTrue(!rows.isEmpty(), "docs/configuration.md does not exist yet, or says nothing on twinbox.outbox.*");

        assertThat(rows.stream().map(OutboxKeyTest::key).distinct().toList())
                .containsExactlyInAnyOrderElementsOf(
                        Arrays.stream(OutboxKey.values()).map(OutboxKey::key).toList());
    }

    @Test
    void the_documentation_states_every_default() throws Exception {
        List<String> rows = documentedRows();
        assumeTrue(!rows.isEmpty(), "docs/configuration.md does not exist yet, or says nothing on twinbox.outbox.*");

        for (OutboxKey key : OutboxKey.values()) {
            Optional<String> value = key.defaultValue();
            if (value.isPresent()) {
                assertThat(rows.stream()
                                .filter(row -> key(row).equals(key.key()))
                                .collect(Collectors.joining("\n")))
                        .as("row of %s", key.key())
                        .contains("`" + value.get() + "`");
            }
        }
    }

    private static List<String> documentedRows() throws Exception {
        Path file = Path.of("..", "docs", "configuration.md");
        if (!Files.exists(file)) {
            return List.of();
        }
        return Files.readAllLines(file).stream()
                .filter(line -> ROW.matcher(line).matches())
                .toList();
    }

    private static String key(String row) {
        Matcher matcher = ROW.matcher(row);
        assertThat(matcher.matches()).isTrue();
        return matcher.group(1);
    }
}
