package dev.twinbox.outbox;

import dev.twinbox.jdbc.SqlIdentifier;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The statement that writes events.
 *
 * <p>Up to {@value #MAX_ROWS} rows go into one statement and take one round trip. More take two: full statements as one
 * JDBC batch, then the rest. So a connection sees at most {@value #MAX_ROWS} different statements, and the server soon
 * has prepared those that the application uses.
 */
final class OutboxInsert {

    /** Eleven parameters a row at most: far below the protocol's 65,535. */
    static final int MAX_ROWS = 100;

    /** tx, seq and slot come from their defaults, seq in the order of the rows. */
    private static final String INSERT = """
            -- outbox: insert
            insert into %s
              (id, topic, key, type, source, subject, occurred_at, content_type, headers, payload)
            values
              (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""";

    private static final String FURTHER_ROW = """
            ,
              (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""";

    /** The number comes from its default, too. */
    private static final String INSERT_SCHEDULED = """
            -- outbox: insert scheduled
            insert into %s
              (id, topic, key, type, source, subject, occurred_at, content_type, headers, payload, deliver_at)
            values
              (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""";

    private static final String FURTHER_SCHEDULED_ROW = """
            ,
              (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""";

    private final String firstRow;
    private final String furtherRow;

    private OutboxInsert(String firstRow, String furtherRow) {
        this.firstRow = firstRow;
        this.furtherRow = furtherRow;
    }

    /** For events to be sent at once. */
    static OutboxInsert ofEvents(SqlIdentifier table) {
        return new OutboxInsert(INSERT.formatted(table.sql()), FURTHER_ROW);
    }

    /** For events to be sent later: rows that have a {@code deliverAt}. */
    static OutboxInsert ofScheduled(SqlIdentifier table) {
        return new OutboxInsert(INSERT_SCHEDULED.formatted(table.sql()), FURTHER_SCHEDULED_ROW);
    }

    /** Inserts in the connection's transaction, numbered in the order of the list. */
    void insert(Connection connection, List<OutboxRow> rows) throws SQLException {
        int full = rows.size() / MAX_ROWS;
        if (full > 0) {
            try (PreparedStatement statement = connection.prepareStatement(sql(MAX_ROWS))) {
                for (int i = 0; i < full; i++) {
                    bind(connection, statement, rows.subList(i * MAX_ROWS, (i + 1) * MAX_ROWS));
                    statement.addBatch();
                }
                statement.executeBatch();
            }
        }
        List<OutboxRow> rest = rows.subList(full * MAX_ROWS, rows.size());
        if (!rest.isEmpty()) {
            try (PreparedStatement statement = connection.prepareStatement(sql(rest.size()))) {
                bind(connection, statement, rest);
                statement.executeUpdate();
            }
        }
    }

    private String sql(int rows) {
        return firstRow + furtherRow.repeat(rows - 1);
    }

    private static void bind(Connection connection, PreparedStatement statement, List<OutboxRow> rows)
            throws SQLException {
        int i = 0;
        for (OutboxRow row : rows) {
            statement.setObject(++i, row.id());
            statement.setString(++i, row.topic());
            statement.setString(++i, row.key());
            statement.setString(++i, row.type());
            statement.setString(++i, row.source());
            statement.setString(++i, row.subject());
            statement.setObject(++i, row.occurredAt().atOffset(ZoneOffset.UTC));
            statement.setString(++i, row.contentType());
            setHeaders(connection, statement, ++i, row.flatHeaders());
            statement.setBytes(++i, row.payload());
            Instant deliverAt = row.deliverAt();
            if (deliverAt != null) {
                statement.setObject(++i, deliverAt.atOffset(ZoneOffset.UTC));
            }
        }
    }

    private static void setHeaders(
            Connection connection, PreparedStatement statement, int index, String @Nullable [] headers)
            throws SQLException {
        if (headers == null) {
            statement.setNull(index, Types.ARRAY);
        } else {
            statement.setArray(index, connection.createArrayOf("text", headers));
        }
    }
}
