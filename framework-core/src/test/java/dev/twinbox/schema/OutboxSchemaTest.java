package dev.twinbox.schema;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class OutboxSchemaTest {

    @Test
    void names_of_an_outbox_are_checked_with_what_is_derived_from_them() {
        assertThatThrownBy(() -> new OutboxSchema(null, "x".repeat(56), "p", "l"))
                .hasMessageContaining("_history");
        assertThatThrownBy(() -> new OutboxSchema(null, "t", "x".repeat(54), "l"))
                .hasMessageContaining("_by_number");
        assertThatThrownBy(() -> new OutboxSchema(null, "t", "p", "")).hasMessageContaining("table is empty");
        assertThatThrownBy(() -> new OutboxSchema(null, "t", "p", "t")).hasMessageContaining("different names");
    }
}
