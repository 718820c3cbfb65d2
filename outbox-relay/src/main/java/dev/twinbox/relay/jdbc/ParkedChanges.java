package dev.twinbox.relay.jdbc;

import dev.twinbox.jdbc.Transactions;
import dev.twinbox.schema.OutboxSchema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Gives parked events back to the relay, or discards them, a bounded number in each transaction. */
public final class ParkedChanges {
    /** Most events that one statement changes. */
    static final int BATCH = 1_000;

    static final String CAN_BE_RETRIED = " and p.state in ('refused', 'waiting')";

    static final String CAN_BE_DISCARDED = " and p.state in ('refused', 'waiting', 'behind', 'ready')";

    private static final String CHANGE = """
            -- parked: {change}
            with chosen as materialized (
              select p.number from {parked} p
              where p.relay = ?{selection}{states} and p.number {after} ? order by p.number {order} limit ?
            ), changed as (
              update {parked} p set {set}
              where p.relay = ? and p.number = any (array(select number from chosen)){states}
              returning 1
            )
            select (select count(*) from changed), (select count(*) from chosen), (select {last}(number) from chosen)
            """;

    /** Only the first event of a key is ever sent next, so the order of these changes does not matter. */
    static final String RETRY = CHANGE.replace("{change}", "retry")
            .replace("{states}", CAN_BE_RETRIED)
            .replace("{set}", "state = 'ready', since = clock_timestamp()")
            .replace("{after}", ">")
            .replace("{order}", "asc")
            .replace("{last}", "max");

    /**
     * The last events first: once the first of a key is discarded the relay sends the next one, which may be selected
     * too.
     */
    static final String DISCARD = CHANGE.replace("{change}", "discard")
            .replace("{states}", CAN_BE_DISCARDED)
            .replace("{set}", "state = 'discarded'")
            .replace("{after}", "<")
            .replace("{order}", "desc")
            .replace("{last}", "min");

    /** Learns what a statement has changed, in its transaction. */
    public interface Listener {
        void changed(long events) throws SQLException;
    }

    private record Changed(long events, int chosen, long last) {}

    private final Connection connection;
    private final OutboxSchema schema;
    private final String relay;
    private final Listener listener;

    /** @param connection in auto-commit */
    ParkedChanges(Connection connection, OutboxSchema schema, String relay, Listener listener) {
        this.connection = connection;
        this.schema = schema;
        this.relay = relay;
        this.listener = listener;
    }

    long retry(ParkedSelection which) throws SQLException {
        return change(RETRY, which, 0);
    }

    long discard(ParkedSelection which) throws SQLException {
        return change(DISCARD, which, Long.MAX_VALUE);
    }

    private long change(String sql, ParkedSelection which, long first) throws SQLException {
        long changed = 0;
        try (PreparedStatement update = prepare(sql, which)) {
            update.setString(1, relay);
            int next = which.bind(connection, update, 2);
            update.setInt(next + 1, BATCH);
            update.setString(next + 2, relay);
            long after = first;
            boolean isFull = true;
            while (isFull) {
                update.setLong(next, after);
                Changed batch = Transactions.inTransaction(connection, () -> change(update));
                changed += batch.events();
                isFull = batch.chosen() == BATCH;
                after = batch.last();
            }
        }
        return changed;
    }

    private PreparedStatement prepare(String sql, ParkedSelection which) throws SQLException {
        return connection.prepareStatement(ParkedTable.sql(sql.replace("{selection}", which.sql()), schema));
    }

    private Changed change(PreparedStatement update) throws SQLException {
        try (ResultSet row = update.executeQuery()) {
            row.next();
            Changed batch = new Changed(row.getLong(1), row.getInt(2), row.getLong(3));
            if (batch.events() > 0) {
                listener.changed(batch.events());
            }
            return batch;
        }
    }
}
