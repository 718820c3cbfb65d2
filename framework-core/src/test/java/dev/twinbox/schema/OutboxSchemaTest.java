package dev.twinbox.schema;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.twinbox.jdbc.SqlIdentifier;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class OutboxSchemaTest {

    @Test
    void namesOfAnOutboxAreCheckedWithWhatIsDerivedFromThem() {
        assertThatThrownBy(() -> new OutboxSchema(null, "x".repeat(56))).hasMessageContaining("_history");
        assertThatThrownBy(() -> new OutboxSchema(null, "x".repeat(45))).hasMessageContaining("_position_by_number");
        assertThatThrownBy(() -> new OutboxSchema(null, "")).hasMessageContaining("table is empty");
    }

    @Test
    void allTablesAreNamedAfterTheEventTable() {
        assertThat(names(new OutboxSchema(null, "outbox_event")))
                .containsExactly(
                        "outbox_event",
                        "outbox_position",
                        "outbox_lease",
                        "outbox_parked",
                        "outbox_scheduled",
                        "outbox_action",
                        "outbox_paused",
                        "outbox_resend");
        assertThat(names(new OutboxSchema(null, "Out")))
                .containsExactly(
                        "Out",
                        "Out_position",
                        "Out_lease",
                        "Out_parked",
                        "Out_scheduled",
                        "Out_action",
                        "Out_paused",
                        "Out_resend");
        assertThat(names(new OutboxSchema(null, "x".repeat(44) + "_event"))).doesNotHaveDuplicates();
    }

    private static List<String> names(OutboxSchema tables) {
        return Stream.of(
                        tables.events(),
                        tables.position(),
                        tables.lease(),
                        tables.parked(),
                        tables.scheduled(),
                        tables.actions(),
                        tables.paused(),
                        tables.resend())
                .map(SqlIdentifier::name)
                .toList();
    }
}
