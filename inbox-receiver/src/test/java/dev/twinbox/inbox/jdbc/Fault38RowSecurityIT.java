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
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Row-level security on the inbox's tables went unnoticed at start. What it hides is handled twice, or overtakes the
 * parked events of its key.
 */
class Fault38RowSecurityIT {
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
        InboxSchema inbox = new InboxSchema(new SqlIdentifier(null, "inbox_event"));
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
        SqlIdentifier table = new SqlIdentifier(null, "inbox_event");
        HandlerTable handlers = HandlerTable.of(table);
        AnnouncedHandler announced = new AnnouncedHandler("t", "later", "h", DeliveryContract.EXACTLY_ONCE_EFFECT);
        try (Connection connection = database.connect();
                Statement statement = connection.createStatement()) {
            statement.execute("set role fault38_inbox");
            connection.setAutoCommit(false);
            handlers.announce(connection, "g", List.of(announced));
            connection.commit();

            database.execute("create policy hidden on inbox_handler for select using (false)");
            database.execute("alter table inbox_handler enable row level security");
            assertThatThrownBy(() -> handlers.find(connection, "g", "t", List.of("later")))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("row-level security");
            connection.rollback();

            database.execute("alter table inbox_handler disable row level security");
            assertThat(handlers.find(connection, "g", "t", List.of("later"))).containsExactly(announced);
            connection.rollback();
        }
    }
}
