package dev.twinbox.schema;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.fixtures.SharedServers;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** Row-level security on the tables that an application writes went unnoticed at its start. */
class Fault38RowSecurityIT {
    private static final String DATABASE = "fault38_writer";
    private static final OutboxSchema TABLES = new OutboxSchema(null, "outbox_event");

    private final PostgresServer server = SharedServers.postgres();

    @Test
    void anApplicationWhoseRoleAPolicyAppliesToIsRefusedAndTheOwnerIsNot() throws Exception {
        server.createDatabase(DATABASE);
        PGSimpleDataSource owner = new PGSimpleDataSource();
        owner.setUrl(server.jdbcUrl(DATABASE));
        owner.setUser(server.user());
        owner.setPassword(server.password());
        TABLES.migrate(owner);
        execute("create role fault38_app login password 'x'");
        execute("grant insert on outbox_event, outbox_scheduled to fault38_app");
        execute("grant usage on sequence outbox_event_seq to fault38_app");
        try (Connection application = DriverManager.getConnection(server.jdbcUrl(DATABASE), "fault38_app", "x")) {
            assertThat(TABLES.problemsForWriting(application)).isEmpty();
            execute("alter table outbox_event enable row level security");
            execute("alter table outbox_scheduled enable row level security");
            assertThat(TABLES.problemsForWriting(application)).singleElement().satisfies(problem -> assertThat(problem)
                    .contains("row-level security", "\"outbox_event\"", "\"fault38_app\"", "disable row level security"));
            assertThat(TABLES.problemsForScheduling(application))
                    .singleElement()
                    .satisfies(problem -> assertThat(problem).contains("\"outbox_scheduled\""));
        }
        try (Connection connection = owner.getConnection()) {
            assertThat(List.of(
                            TABLES.problemsForWriting(connection).size(),
                            TABLES.problemsForScheduling(connection).size()))
                    .containsExactly(0, 0);
        }
    }

    private void execute(String sql) throws SQLException {
        try (Connection connection = server.connect(DATABASE);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
