package dev.twinbox.relay.jdbc;

import dev.twinbox.jdbc.SqlState;
import dev.twinbox.jdbc.Transactions;
import dev.twinbox.schema.OutboxSchema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The slots of the event table, and how one is emptied. Bound to one connection; not for several threads.
 *
 * <p>{@link #tryEmpty} is safe against every writer, because a transaction that has written into the slot, or is about to
 * commit or was prepared with rows in it, holds a lock on it that conflicts with ours, and because the rows are looked for
 * under our lock, in a snapshot taken after it was had. One whose start lies so far back that it writes into the slot only
 * after it was emptied writes an ordinary row: it is sent like all others, and the slot is emptied again.
 *
 * <p>Sent is what is visible in a saved, hence durable, {@code from}, the same that decides what a window holds. A position
 * never moves back, so a relay that has lost its lease without knowing it can do no harm here either.
 */
public final class EventSlots {
    /** For all that follows the lock itself, such as the lock on the TOAST table, which its own vacuum may hold. */
    private static final String LOCK_TIMEOUT = """
            -- relay: lock timeout while emptying a slot
            set local lock_timeout = '100ms'
            """;

    /** Without waiting: whoever waits for such a lock has all later writers wait behind him. */
    private static final String LOCK = """
            -- relay: lock a slot
            lock table only {slot} in access exclusive mode nowait
            """;

    private static final String TRUNCATE = """
            -- relay: empty a slot
            truncate table only {slot}
            """;

    /**
     * The relays for which the slot holds an event that they have not sent; each name that has a lease on this table counts, one without a
     * position has sent nothing. Our own name is among them, whatever the slot holds, should its lease have vanished.
     */
    static final String UNSENT = """
            -- relay: who has not sent all of a slot
            select l.relay
            from {lease} l
              left join lateral (
                select window_from from {position} p where p.relay = l.relay order by p.number desc limit 1) p on true
            where (l.events is null or l.events = {own}) and (exists (
                select from {events} e
                where e.slot = {number} and e.tx >= coalesce(pg_snapshot_xmax(p.window_from), '1'::xid8))
              or exists (
                select from pg_snapshot_xip(p.window_from) x(tx)
                  cross join lateral (select from {events} e where e.slot = {number} and e.tx = x.tx limit 1) h))
            union all
            select r.relay from (select ?::text) r(relay) where not exists (select from {lease} l where l.relay = r.relay)
            order by relay
            """;

    private static final String SIZES = """
            -- relay: sizes of a slot
            select pg_relation_size(r), pg_total_relation_size(r) from (select ?::regclass) s(r)
            """;

    private static final String HOLDERS = """
            -- relay: who holds a lock on a slot
            select distinct coalesce('session ' || l.pid, 'prepared transaction ' || coalesce(quote_literal(p.gid), '?'))
            from pg_locks l
              left join pg_locks t
                on l.pid is null and t.virtualtransaction = l.virtualtransaction and t.locktype = 'transactionid'
              left join pg_prepared_xacts p on p.transaction = t.transactionid
            where l.relation = ?::regclass and l.granted and l.pid is distinct from pg_backend_pid()
            order by 1
            """;

    /**
     * How one try to empty a slot ended.
     *
     * @param detail what is in the way, for people; empty if nothing
     */
    public record Outcome(Kind kind, String detail) {
        public enum Kind {
            EMPTIED,
            /** Somebody uses it; worth another try at once, the relay's own polls do, too. */
            LOCKED,
            UNSENT,
            FORBIDDEN
        }

        static final Outcome EMPTIED = new Outcome(Kind.EMPTIED, "");
    }

    /**
     * How large a slot is, in bytes.
     *
     * @param rows bytes of the table alone: 0 if and only if nothing is in it, not even remains of what was rolled back
     * @param all with its indexes and large values
     */
    public record Size(long rows, long all) {}

    private final Connection connection;
    private final OutboxSchema tables;
    private final String relay;

    /**
     * Slots of one outbox, as one relay uses them.
     *
     * @param connection with the settings of {@link OutboxDatabase}, in auto-commit mode between calls
     */
    public EventSlots(Connection connection, OutboxSchema tables, String relay) {
        this.connection = connection;
        this.tables = tables;
        this.relay = relay;
    }

    /** The slot that has its turn: a transaction that begins now writes into it. */
    public int current() throws SQLException {
        return tables.currentSlot(connection);
    }

    public Size size(int slot) throws SQLException {
        try (PreparedStatement sizes = connection.prepareStatement(SIZES)) {
            sizes.setString(1, tables.eventsSlot(slot).sql());
            try (ResultSet row = sizes.executeQuery()) {
                row.next();
                return new Size(row.getLong(1), row.getLong(2));
            }
        }
    }

    /** Empties the slot if nobody uses it and all of it is sent. */
    public Outcome tryEmpty(int slot) throws SQLException {
        try {
            return Transactions.inTransaction(connection, () -> emptyUnderLock(slot));
        } catch (SQLException e) {
            return whatStops(e, slot);
        }
    }

    private Outcome emptyUnderLock(int slot) throws SQLException {
        execute(LOCK_TIMEOUT);
        execute(sql(LOCK, slot));
        List<String> behind = unsent(slot);
        if (!behind.isEmpty()) {
            return new Outcome(Outcome.Kind.UNSENT, named(behind));
        }
        execute(sql(TRUNCATE, slot));
        return Outcome.EMPTIED;
    }

    private Outcome whatStops(SQLException failure, int slot) throws SQLException {
        if (SqlState.LOCK_NOT_AVAILABLE.isOf(failure)) {
            return new Outcome(Outcome.Kind.LOCKED, "in use");
        }
        if (SqlState.INSUFFICIENT_PRIVILEGE.isOf(failure)) {
            return new Outcome(
                    Outcome.Kind.FORBIDDEN,
                    "not allowed (" + failure.getMessage() + "): grant truncate on " + tables.eventsSlot(slot)
                            + " to the relay's role");
        }
        throw failure;
    }

    /** The relays that have not sent all of the slot. Only under its lock is the answer more than a guess. */
    public List<String> unsent(int slot) throws SQLException {
        try (PreparedStatement unsent = connection.prepareStatement(sql(UNSENT, slot))) {
            unsent.setString(1, relay);
            return texts(unsent);
        }
    }

    /** Who uses the slot now, for people. */
    public List<String> holders(int slot) throws SQLException {
        try (PreparedStatement holders = connection.prepareStatement(HOLDERS)) {
            holders.setString(1, tables.eventsSlot(slot).sql());
            return texts(holders);
        }
    }

    private static List<String> texts(PreparedStatement statement) throws SQLException {
        List<String> texts = new ArrayList<>();
        try (ResultSet rows = statement.executeQuery()) {
            while (rows.next()) {
                texts.add(rows.getString(1));
            }
        }
        return texts;
    }

    public static String named(List<String> relays) {
        return "not all of it sent by "
                + relays.stream().map(name -> '"' + name + '"').collect(Collectors.joining(", "));
    }

    private String sql(String statement, int slot) {
        return sql(statement, tables, slot);
    }

    static String sql(String statement, OutboxSchema tables, int slot) {
        return statement
                .replace("{number}", Integer.toString(slot)) // no parameter, or no slot would be left out of the plan
                .replace("{own}", LeaseTable.own(tables))
                .replace("{slot}", tables.eventsSlot(slot).sql())
                .replace("{events}", tables.events().sql())
                .replace("{position}", tables.position().sql())
                .replace("{lease}", tables.lease().sql());
    }

    private void execute(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
