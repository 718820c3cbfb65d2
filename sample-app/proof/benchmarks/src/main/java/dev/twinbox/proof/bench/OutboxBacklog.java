package dev.twinbox.proof.bench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HexFormat;
import org.postgresql.PGConnection;
import org.postgresql.copy.PGCopyOutputStream;

/** Committed rows in an outbox that are not published yet. */
final class OutboxBacklog {

    /** Rows per transaction. No application has a window of one huge transaction. */
    private static final int ROWS_PER_TRANSACTION = 100;

    private static final String COPY = """
            -- bench: load backlog
            copy %s (%s) from stdin""";

    private OutboxBacklog() {}

    /**
     * Writes all events of the workload in the order of their numbers, then vacuums the table. So the first relay does
     * not pay for visibility information that later ones need as well.
     */
    static void load(Connection connection, EventTable table, Workload workload, String topic)
            throws SQLException, IOException {
        PGConnection postgres = connection.unwrap(PGConnection.class);
        String copy = COPY.formatted(table.table(), table.columns());
        try (Statement statement = connection.createStatement()) {
            // Only the load is asynchronous. The checkpoint below makes it durable before the measurement.
            statement.execute("set synchronous_commit = off");
            for (int from = 0; from < workload.events(); from += ROWS_PER_TRANSACTION) {
                int to = Math.min(from + ROWS_PER_TRANSACTION, workload.events());
                try (PGCopyOutputStream rows = new PGCopyOutputStream(postgres, copy, 1 << 17)) {
                    for (int number = from; number < to; number++) {
                        rows.write(row(workload, number, topic));
                    }
                }
            }
            statement.execute("vacuum (analyze) " + table.table());
            statement.execute("checkpoint");
        }
    }

    private static byte[] row(Workload workload, int number, String topic) {
        return String.join(
                        "\t",
                        workload.id(number).toString(),
                        topic,
                        workload.key(number),
                        Workload.TYPE,
                        Workload.SOURCE,
                        workload.time(number).toString(),
                        Workload.CONTENT_TYPE,
                        "\\\\x" + HexFormat.of().formatHex(workload.payload(number)))
                .concat("\n")
                .getBytes(StandardCharsets.UTF_8);
    }
}
