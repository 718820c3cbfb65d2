package dev.twinbox.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Keeps the producer's part of {@code docs/reference/configuration.md} true. */
class OutboxConfigurationDocumentTest {

    private static final Path DOCUMENT = Path.of("..", "docs", "reference", "configuration.md");

    /** The relay reads these too; its own test holds their rows against its words for them. */
    private static final Set<OutboxKey> SHARED_WITH_THE_RELAY =
            Set.of(OutboxKey.SCHEMA, OutboxKey.TABLE, OutboxKey.POSITION_TABLE, OutboxKey.LEASE_TABLE);

    @Test
    void the_document_has_the_row_of_each_key_of_the_producer() throws IOException {
        assertThat(rows())
                .containsAll(Arrays.stream(OutboxKey.values())
                        .filter(key -> !SHARED_WITH_THE_RELAY.contains(key))
                        .map(OutboxConfigurationDocumentTest::row)
                        .toList());
    }

    @Test
    void the_document_names_no_key_of_the_producer_that_does_not_exist() throws IOException {
        assertThat(rows().stream().map(row -> row.split("`", 3)[1]))
                .containsExactlyInAnyOrderElementsOf(
                        Arrays.stream(OutboxKey.values()).map(OutboxKey::key).toList());
    }

    private static List<String> rows() throws IOException {
        return Files.readAllLines(DOCUMENT).stream()
                .filter(line -> line.startsWith("| `" + OutboxKey.PREFIX))
                .toList();
    }

    private static String row(OutboxKey key) {
        String shownDefault = key.isRequired()
                ? "required"
                : key.defaultValue().map(value -> "`" + value + "`").orElse("unset");
        return "| `" + key.key() + "` | " + key.type() + " | " + shownDefault + " | " + key.meaning() + " |";
    }
}
