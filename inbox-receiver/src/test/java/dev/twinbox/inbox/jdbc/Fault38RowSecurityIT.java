package dev.twinbox.inbox.jdbc;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.twinbox.SchemaException;
import dev.twinbox.inbox.Database;
import dev.twinbox.jdbc.SqlIdentifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.BeforeAll;
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
}
