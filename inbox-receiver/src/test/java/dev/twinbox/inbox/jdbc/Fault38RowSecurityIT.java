package dev.twinbox.inbox.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.twinbox.DeliveryContract;
import dev.twinbox.SchemaException;
import dev.twinbox.inbox.Database;
import dev.twinbox.jdbc.SqlIdentifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Row-level security on the inbox's tables went unnoticed at start. What it hides is handled twice, or overtakes the
 * parked events of its key.
 */
class Fault38RowSecurityIT {

    private static final SqlIdentifier INBOX = new SqlIdentifier(null, "inbox_event");

    private static Database database;

    @BeforeAll
    static void create() {
        database = new Database("fault38_inbox");
        database.execute("create role fault38_inbox");
        database.execute("grant select, insert, update, delete on all tables in schema public to fault38_inbox");
    }

    @ParameterizedTest
    @ValueSource(strings = {"inbox_event", "inbox_parked", "inbox_event_retention"})
    void aTableWhoseRowsMayBeHiddenIsRefusedAtStart(String table) throws SQLException {
        InboxSchema inbox = new InboxSchema(INBOX);
        try (Connection connection = database.connect();
                Statement statement = connection.createStatement()) {
            statement.execute("set role fault38_inbox");
            inbox.check(connection);
            database.execute("alter table " + table + " enable row level security");
            assertThatThrownBy(() -> inbox.check(connection))
                    .isInstanceOf(SchemaException.class)
                    .hasMessageContainingAll(table, "row-level security", "disable row level security");
            database.execute("alter table " + table + " disable row level security");
            inbox.check(connection);
        }
    }

    /** An event would be skipped for good if the handler that another instance has announced for it were hidden. */
    @Test
    void lookingForTheHandlersOfOtherInstancesFailsWhileTheyAreHidden() throws SQLException {
        HandlerTable handlers = HandlerTable.of(INBOX);
        AnnouncedHandler announced = new AnnouncedHandler("t", "later", "h", DeliveryContract.EXACTLY_ONCE_EFFECT);
        try (Connection connection = connectAsInbox()) {
            handlers.announce(connection, "g", List.of(announced));
            connection.commit();

            hide("inbox_handler");
            assertFailsForRowSecurity(() -> handlers.find(connection, "g", "t", List.of("later")));
            connection.rollback();

            database.execute("alter table inbox_handler disable row level security");
            assertThat(handlers.find(connection, "g", "t", List.of("later"))).containsExactly(announced);
            connection.rollback();
        }
    }

    /** A group would start elsewhere, and leave out events or read them again, if what it remembers were hidden. */
    @Test
    void lookingForRememberedOffsetsFailsWhileTheyAreHidden() throws SQLException {
        OffsetTable offsets = OffsetTable.of(INBOX);
        OffsetTable.Remembered remembered = new OffsetTable.Remembered(UUID.randomUUID(), "t", 0, 7, true);
        try (Connection connection = connectAsInbox()) {
            offsets.save(connection, "g", List.of(remembered));
            connection.commit();

            hide("inbox_event_offset");
            assertFailsForRowSecurity(() -> offsets.find(connection, "g", List.of("t")));
            connection.rollback();

            database.execute("alter table inbox_event_offset disable row level security");
            assertThat(offsets.find(connection, "g", List.of("t"))).containsExactly(remembered);
            connection.rollback();
        }
    }

    /** The row of a parked event must stay. It would be deleted if the parked row were hidden. */
    @Test
    void deletingOldRowsFailsWhileParkedEventsAreHidden() throws SQLException {
        InboxTable inbox = new InboxTable(INBOX, new SqlIdentifier(null, "inbox_parked"));
        database.execute("insert into inbox_event (consumer_group, handler, event_id, handled_at) "
                + "values ('g', 'h', 'old', now() - interval '1 day')");
        Instant now = Instant.now();
        try (Connection connection = connectAsInbox()) {
            hide("inbox_parked");
            assertFailsForRowSecurity(() -> inbox.deleteExpired(connection, "g", now.minusSeconds(200_000), now, 10));
            connection.rollback();

            database.execute("alter table inbox_parked disable row level security");
            assertThat(inbox.deleteExpired(connection, "g", now.minusSeconds(200_000), now, 10)
                            .deleted())
                    .isEqualTo(1);
            connection.rollback();
        }
    }

    private static Connection connectAsInbox() throws SQLException {
        Connection connection = database.connect();
        try (Statement statement = connection.createStatement()) {
            statement.execute("set role fault38_inbox");
        }
        connection.setAutoCommit(false);
        return connection;
    }

    private static void hide(String table) {
        database.execute("create policy hidden on " + table + " for select using (false)");
        database.execute("alter table " + table + " enable row level security");
    }

    private static void assertFailsForRowSecurity(ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOf(SQLException.class).hasMessageContaining("row-level security");
    }
}
