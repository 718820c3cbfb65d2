package dev.twinbox.inbox.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.twinbox.SchemaException;
import dev.twinbox.inbox.Database;
import dev.twinbox.jdbc.SqlIdentifier;
import dev.twinbox.schema.OutboxSchema;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A database that is not UTF-8 cannot hold every error text, so a partition stood as soon as one had to be parked. Such
 * a database is refused.
 */
class Fault04EncodingIT {

    private static final SqlIdentifier INBOX = new SqlIdentifier(null, "inbox_event");

    private static PGSimpleDataSource latin;

    @BeforeAll
    static void create() {
        Database utf8 = new Database("fault04");
        utf8.execute("create database fault04_latin encoding 'LATIN1' locale 'C' template template0");
        latin = utf8.dataSource();
        latin.setDatabaseName("fault04_latin");
    }

    @Test
    void migrateRefusesItAndCreatesNothing() throws SQLException {
        assertThatThrownBy(() -> new InboxSchema(INBOX).migrate(latin))
                .isInstanceOf(SchemaException.class)
                .hasMessageContaining("the database's encoding is LATIN1")
                .hasMessageContaining("create it with encoding UTF8");
        assertThatThrownBy(() -> new OutboxSchema("events", OutboxSchema.DEFAULT_TABLE).migrate(latin))
                .isInstanceOf(SchemaException.class)
                .hasMessageContaining("the database's encoding is LATIN1");
        try (Connection connection = latin.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("select count(*) from pg_namespace n "
                        + "left join pg_class c on n.oid = relnamespace "
                        + "where nspname = 'events' or (nspname = 'public' and c.oid is not null)")) {
            row.next();
            assertThat(row.getLong(1)).isZero();
        }
    }

    @Test
    void theReceiverRefusesItAtItsStart() throws SQLException {
        try (Connection connection = latin.getConnection()) {
            assertThatThrownBy(() -> new InboxSchema(INBOX).check(connection))
                    .isInstanceOf(SchemaException.class)
                    .hasMessageContaining("the database's encoding is LATIN1");
        }
    }

    @Test
    void theProducerRefusesItAtItsStart() throws SQLException {
        try (Connection connection = latin.getConnection()) {
            assertThat(new OutboxSchema(null, OutboxSchema.DEFAULT_TABLE).problemsForWriting(connection))
                    .anyMatch(problem -> problem.contains("the database's encoding is LATIN1"));
        }
    }
}
