package dev.twinbox.proof.soak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.proof.landscape.Landscape;
import dev.twinbox.proof.soak.Fault.Kind;
import dev.twinbox.proof.soak.Fault.Target;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A fault of a role is there while it lasts and gone afterwards, or the soak fails. */
@Tag("proof")
class RolesIT {

    private static final Path PAGE = Path.of(System.getProperty("twinbox.root"), "docs/how-to/security.md");

    private final PostgresServer postgres = PostgresServer.create();
    private final Roles roles = new Roles(postgres, Grants.of(PAGE));

    @BeforeEach
    void createTables() throws SQLException {
        postgres.start();
        postgres.createDatabase(Landscape.ORDERS_DATABASE);
        execute("create sequence outbox_event_seq");
        for (String table : new String[] {
            "outbox_event",
            "outbox_scheduled",
            "outbox_position",
            "outbox_lease",
            "outbox_parked",
            "outbox_action",
            "outbox_paused",
            "outbox_resend",
            "outbox_position_slot0",
            "outbox_position_slot1",
            "outbox_event_slot0",
            "outbox_event_slot1",
            "outbox_event_slot2"
        }) {
            execute("create table " + table + " (id int, events int)");
        }
        roles.createOfOutbox();
    }

    @AfterEach
    void close() {
        postgres.close();
    }

    @ParameterizedTest
    @EnumSource(names = {"REVOKE", "HIDE_ROWS"})
    void aFaultIsThereWhileItLasts(Kind kind) {
        long before = System.nanoTime();
        Fault fault = fault(kind);

        roles.breakFor(fault);
        assertThat(roles.wereBrokenSince(before)).isTrue();
        assertThatThrownBy(() -> roles.undo(fault(kind == Kind.REVOKE ? Kind.HIDE_ROWS : Kind.REVOKE)))
                .as("what would be undone is something else")
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("may not read outbox_event");

        roles.undo(fault);
        assertThat(roles.wereBrokenSince(before)).isTrue();
        assertThat(roles.wereBrokenSince(System.nanoTime())).isFalse();
        assertThat(roles.checked()).isEqualTo(1);
    }

    @Test
    void aRightThatCannotBeTakenAwayIsReported() throws SQLException {
        execute("grant select on outbox_event to public");

        assertThatThrownBy(() -> roles.breakFor(fault(Kind.REVOKE)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("soak_relay may read outbox_event");
    }

    private static Fault fault(Kind kind) {
        return new Fault(1, Duration.ZERO, kind, Target.OUTBOX_EVENT, Duration.ZERO);
    }

    private void execute(String sql) throws SQLException {
        try (Connection connection = postgres.connect(Landscape.ORDERS_DATABASE);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
