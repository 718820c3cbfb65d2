package dev.twinbox.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class SqlIdentifierTest {

    @Test
    void everyPartIsQuotedAndQuotesAreDoubled() {
        assertThat(new SqlIdentifier("Sales-EU 1", "Out\"Box").sql()).isEqualTo("\"Sales-EU 1\".\"Out\"\"Box\"");
        assertThat(new SqlIdentifier(null, "outbox_event").sql()).isEqualTo("\"outbox_event\"");
        assertThat(new SqlIdentifier("s", "t").unqualifiedSql()).isEqualTo("\"t\"");
        assertThat(new SqlIdentifier("s", "t").withSuffix("_seq").sql()).isEqualTo("\"s\".\"t_seq\"");
    }

    @Test
    void aLiteralEscapesApostrophesAndBackslashes() {
        assertThat(new SqlIdentifier(null, "a'b").sqlLiteral()).isEqualTo("'\"a''b\"'");
        assertThat(new SqlIdentifier(null, "a\\b").sqlLiteral()).isEqualTo("E'\"a\\\\b\"'");
    }

    @Test
    void aNameHasAtMost63BytesOfUtf8() {
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
    void whatPostgresqlCannotTakeAsANameIsRefused() {
        assertThatThrownBy(() -> new SqlIdentifier(null, "")).hasMessageContaining("name is empty");
        assertThatThrownBy(() -> new SqlIdentifier("", "t")).hasMessageContaining("schema is empty");
        assertThatThrownBy(() -> new SqlIdentifier(null, "a\0")).hasMessageContaining("U+0000");
        assertThatThrownBy(() -> new SqlIdentifier(null, "\ud83d")).hasMessageContaining("lone surrogate");
    }
}
