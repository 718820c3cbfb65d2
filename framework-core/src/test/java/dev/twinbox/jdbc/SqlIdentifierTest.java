package dev.twinbox.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class SqlIdentifierTest {

    @Test
    void every_part_is_quoted_and_quotes_are_doubled() {
        assertThat(new SqlIdentifier("Sales-EU 1", "Out\"Box").sql()).isEqualTo("\"Sales-EU 1\".\"Out\"\"Box\"");
        assertThat(new SqlIdentifier(null, "outbox_event").sql()).isEqualTo("\"outbox_event\"");
        assertThat(new SqlIdentifier("s", "t").unqualifiedSql()).isEqualTo("\"t\"");
        assertThat(new SqlIdentifier("s", "t").withSuffix("_seq").sql()).isEqualTo("\"s\".\"t_seq\"");
    }

    @Test
    void a_literal_escapes_apostrophes_and_backslashes() {
        assertThat(new SqlIdentifier(null, "a'b").sqlLiteral()).isEqualTo("'\"a''b\"'");
        assertThat(new SqlIdentifier(null, "a\\b").sqlLiteral()).isEqualTo("E'\"a\\\\b\"'");
    }

    @Test
    void a_name_has_at_most_63_bytes_of_utf8() {
        assertThat(new SqlIdentifier(null, "x".repeat(63)).name()).hasSize(63);
        assertThatThrownBy(() -> new SqlIdentifier(null, "x".repeat(64)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("64 bytes of UTF-8");
        assertThatThrownBy(() -> new SqlIdentifier("ä".repeat(32), "t"))
                .hasMessageContaining("schema")
                .hasMessageContaining("64 bytes");
        assertThatThrownBy(() -> new SqlIdentifier(null, "x".repeat(60)).withSuffix("_seq"))
                .hasMessageContaining("64 bytes");
    }

    @Test
    void what_postgresql_cannot_take_as_a_name_is_refused() {
        assertThatThrownBy(() -> new SqlIdentifier(null, "")).hasMessageContaining("name is empty");
        assertThatThrownBy(() -> new SqlIdentifier("", "t")).hasMessageContaining("schema is empty");
        assertThatThrownBy(() -> new SqlIdentifier(null, "a\0")).hasMessageContaining("U+0000");
        assertThatThrownBy(() -> new SqlIdentifier(null, "\ud83d")).hasMessageContaining("lone surrogate");
    }
}
