package dev.twinbox.inbox.jdbc;

import dev.twinbox.ParkedEvent;
import dev.twinbox.jdbc.SqlIdentifier;
import dev.twinbox.jdbc.Transactions;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The statements by which an operator works on many parked events at once. Each method works in its caller's transaction. Each
 * statement looks at a bounded number of events.
 */
public final class SelectedRows {

    /** Most events that one statement changes. */
    private static final int BATCH = 1_000;

    /** No count goes beyond. */
    private static final int MOST_COUNTED = 1_000_000;

    /** An event that is due already, or waits behind another one, is left as it is. */
    private static final String CAN_BE_RETRIED = "(p.state in ('dead', 'passed') "
            + "or (p.state = 'retry' and (p.attempts > 0 or p.next_try_at > clock_timestamp())))";

    private static final String LIST =
            """
            -- inbox: list selected parked events
            select %s
              from (select p.number as n from %%1$s p where %%2$s order by p.number limit ?) page
              join %%1$s on number = n
             order by number""".formatted(ParkedColumns.NAMES.replace("record_value", "null::bytea as record_value"));

    private static final String COUNT = """
            -- inbox: count selected parked events
            select count(*) from (select from %1$s p where %2$s limit ?) found""";

    private static final String RETRY = """
            -- inbox: retry selected parked events
            with chosen as materialized (
              select p.number from %1$s p where %2$s and %3$s and p.number > ? order by p.number limit ?
            ), due as (
              update %1$s p
                 set state = 'retry', attempts = 0, next_try_at = clock_timestamp()
               where p.number = any (array(select number from chosen)) and %3$s
              returning 1
            )
            select (select count(*) from due), (select count(*) from chosen), (select max(number) from chosen)""";

    /** The inbox rows come with it: an event that was given up must not come back by a repetition. */
    private static final String DISCARD = """
            -- inbox: discard selected parked events
            with chosen as materialized (
              select p.number from %1$s p where %2$s order by p.number limit ?
            ), gone as (
              delete from %1$s p where p.number = any (array(select number from chosen)) and p.state <> 'begun'
              returning p.consumer_group, p.handler, p.event_id, p.event_source, p.claims, p.topic, p.key_hash
            ), settled as (
              insert into %3$s (consumer_group, handler, event_id, event_source)
              select consumer_group, handler, event_id, event_source from gone where claims and handler is not null
              on conflict do nothing
            )
            select consumer_group, handler, topic, key_hash from gone""";

    private static final String GROUPS = """
            -- inbox: parked events by handler and state
            select consumer_group, coalesce(handler, ''), upper(state), count(*),
                   to_char(min(parked_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
              from (select p.consumer_group, p.handler, p.state, p.parked_at from %s p
                     where p.state <> 'begun' order by p.number limit ?) p
             group by 1, 2, 3
             order by 1, 2, 3""";

    private static final String ESTIMATE = """
            -- inbox: estimate of the rows
            select greatest(c.reltuples::bigint, pg_stat_get_live_tuples(c.oid)) from pg_catalog.pg_class c where c.oid = ?::regclass""";

    /** Learns how many events a statement has changed, in its transaction. */
    @FunctionalInterface
    public interface Listener {
        void changed(long events) throws SQLException;
    }

    private final SqlIdentifier inbox;
    private final SqlIdentifier table;
    private final ParkedTable parked;

    public SelectedRows(SqlIdentifier inbox) {
        this.inbox = inbox;
        this.table = ParkedTable.name(inbox);
        this.parked = new ParkedTable(table);
    }

    /** In the order in which they were parked, without their values. */
    public List<ParkedEvent> list(Connection connection, ParkedSelection which, int most) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(LIST.formatted(table.sql(), which.sql()))) {
            statement.setInt(which.bind(connection, statement, 1), most);
            try (ResultSet rows = statement.executeQuery()) {
                List<ParkedEvent> events = new ArrayList<>();
                while (rows.next()) {
                    events.add(ParkedColumns.read(rows));
                }
                return events;
            }
        }
    }

    /** How many there are. */
    public long count(Connection connection, ParkedSelection which) throws SQLException {
        return count(connection, which, which.sql());
    }

    /** How many {@link #retryAll} would make due. */
    public long countRetryable(Connection connection, ParkedSelection which) throws SQLException {
        return count(connection, which, which.sql() + " and " + CAN_BE_RETRIED);
    }

    private long count(Connection connection, ParkedSelection which, String condition) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(COUNT.formatted(table.sql(), condition))) {
            statement.setInt(which.bind(connection, statement, 1), MOST_COUNTED);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getLong(1);
            }
        }
    }

    private record Retried(long events, boolean isFull, long last) {}

    /**
     * Makes them due; returns how many it did. What is tried and fails in between is not met again.
     *
     * @param connection in auto-commit mode: each batch is a transaction
     */
    public long retryAll(Connection connection, ParkedSelection which, Listener listener) throws SQLException {
        String sql = RETRY.formatted(table.sql(), which.sql(), CAN_BE_RETRIED);
        long retried = 0;
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            int next = which.bind(connection, statement, 1);
            statement.setInt(next + 1, BATCH);
            Retried batch = new Retried(0, true, 0);
            while (batch.isFull()) {
                statement.setLong(next, batch.last());
                batch = Transactions.inTransaction(connection, () -> retry(statement, listener));
                retried += batch.events();
            }
        }
        return retried;
    }

    private static Retried retry(PreparedStatement statement, Listener listener) throws SQLException {
        try (ResultSet row = statement.executeQuery()) {
            row.next();
            Retried batch = new Retried(row.getLong(1), row.getInt(2) == BATCH, row.getLong(3));
            if (batch.events() > 0) {
                listener.changed(batch.events());
            }
            return batch;
        }
    }

    /**
     * Gives them up; returns how many it did.
     *
     * @param connection in auto-commit mode: each batch is a transaction, and the next of a key goes on after the commit
     *     of what it waited for
     */
    public long discardAll(Connection connection, ParkedSelection which, Listener listener) throws SQLException {
        long discarded = 0;
        int batch = BATCH;
        while (batch == BATCH) {
            Map<String, BlockedKey> keys = new LinkedHashMap<>();
            batch = Transactions.inTransaction(connection, () -> discard(connection, which, keys, listener));
            for (BlockedKey key : keys.values()) {
                parked.promote(connection, key);
            }
            discarded += batch;
        }
        return discarded;
    }

    /** Gives a batch of them up, and adds the keys that they blocked; returns how many. */
    private int discard(Connection connection, ParkedSelection which, Map<String, BlockedKey> keys, Listener listener)
            throws SQLException {
        int discarded = 0;
        String sql = DISCARD.formatted(table.sql(), which.sql(), inbox.sql());
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setInt(which.bind(connection, statement, 1), BATCH);
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    discarded++;
                    BlockedKey key = ParkedRows.key(rows);
                    if (key != null) {
                        keys.putIfAbsent(
                                String.join("\0", key.group(), key.handler(), key.topic(), rows.getString(4)), key);
                    }
                }
            }
        }
        if (discarded > 0) {
            listener.changed(discarded);
        }
        return discarded;
    }

    /**
     * Parked events of a handler in one state.
     *
     * @param handler empty: the records cannot be read
     * @param oldest when the first of them was parked, as the database writes it
     */
    public record Group(String group, String handler, String state, long number, String oldest) {}

    /** By group, handler and state. */
    public List<Group> groups(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(GROUPS.formatted(table.sql()))) {
            statement.setInt(1, MOST_COUNTED);
            try (ResultSet rows = statement.executeQuery()) {
                List<Group> groups = new ArrayList<>();
                while (rows.next()) {
                    groups.add(new Group(
                            rows.getString(1),
                            rows.getString(2),
                            rows.getString(3),
                            rows.getLong(4),
                            rows.getString(5)));
                }
                return groups;
            }
        }
    }

    /** How many rows the inbox has, by the statistics. No row is read. */
    public long estimatedRows(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(ESTIMATE)) {
            statement.setString(1, inbox.sql());
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getLong(1);
            }
        }
    }

    /** Version of the tables, which {@code migrate} has recorded. */
    public String version(Connection connection) throws SQLException {
        String sql = "-- inbox: version of the tables\nselect version from "
                + inbox.withSuffix("_history").sql()
                + " where success and version is not null order by installed_rank desc limit 1";
        try (PreparedStatement statement = connection.prepareStatement(sql);
                ResultSet row = statement.executeQuery()) {
            return row.next() ? row.getString(1) : "0";
        }
    }
}
