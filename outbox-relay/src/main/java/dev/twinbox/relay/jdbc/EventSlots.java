package dev.twinbox.relay.jdbc;

import dev.twinbox.jdbc.FailureSubject;
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
import org.jspecify.annotations.Nullable;

/**
 * Empties the slots of the event table. Bound to one connection; not for several threads.
 *
 * <p>{@link #tryEmpty} is safe against every writer, for two reasons. A transaction that has written into the slot
 * holds a lock on it until it ends, also while it commits or is prepared. That lock conflicts with the lock that is
 * taken here. And the check for unsent rows runs under this lock, in a snapshot that is taken after the lock. So it
 * sees every committed row.
 *
 * <p>A transaction can begin before the slot is emptied and write into it afterwards. That row is an ordinary one: it
 * is sent, and the slot is emptied again later.
 *
 * <p>A row counts as sent if it is visible in {@code from} of a saved position. Saved positions are durable and never
 * move back. So a relay that has lost its lease without knowing it does no harm here.
 */
public final class EventSlots {
    /**
     * Bounds the waits after the slot's own lock. An example is the lock on the TOAST table, which its own vacuum may
     * hold. What a policy of row-level security hides must not be emptied, whatever the session's setting.
     */
    private static final String SETTINGS = """
            -- relay: settings while emptying a slot
            set local lock_timeout = '100ms'; set local row_security = off
            """;

    /** Does not wait. A session that waits for this lock makes all later writers wait as well. */
    private static final String LOCK = """
            -- relay: lock a slot
            lock table only {slot} in access exclusive mode nowait
            """;

    private static final String TRUNCATE = """
            -- relay: empty a slot
            truncate table only {slot}
            """;

    /**
     * The relays that have not sent all events of the slot. Every name with a lease on this table counts; a name
     * without a position has sent nothing. A name that was paused and has never run does not count. Our own name is reported as well if its lease has vanished, whatever the
     * slot holds.
     */
    static final String UNSENT = """
            -- relay: who has not sent all of a slot
            select l.relay
            from {lease} l
              left join lateral (
                select window_from from {position} p where p.relay = l.relay order by p.number desc limit 1) p on true
            where {taken} and (l.events is null or l.events = {own}) and (exists (
                select from {events} e
                where e.slot = {number} and e.tx >= coalesce(pg_snapshot_xmax(p.window_from), '1'::xid8))
              or exists (
                select from pg_snapshot_xip(p.window_from) x(tx)
                  cross join lateral (select from {events} e where e.slot = {number} and e.tx = x.tx limit 1) h))
            union all
            select r.relay from (select ?::text) r(relay)
            where not exists (select from {lease} l where l.relay = r.relay)
            order by relay
            """;

    private static final String MAY_HAVE_JOBS = """
            -- relay: can there be jobs of resend
            select to_regclass(?) is not null
            """;

    private static final String SEES_JOBS = """
            -- relay: may it see jobs of resend
            select coalesce(has_table_privilege(to_regclass(?), 'select'), false)
            """;

    /** Of any relay: all of them send from this table. */
    private static final String NEEDED = """
            -- relay: which job of resend needs the slots
            select 'job ' || number || ' of "resend" of relay "' || relay || '" needs it'
            from {resend} where state in ('requested', 'running') order by number
            """;

    /** Does not wait: the row is locked by each save of a position, and whoever saves may wait for the slot. */
    private static final String REMEMBER = """
            -- relay: remember what is emptied
            update {lease} set emptied_seq = greatest(emptied_seq, (select max(seq) from {events} where slot = {number}))
            where relay in (select relay from {lease} where relay = ? for no key update skip locked)
            """;

    private static final String SIZES = """
            -- relay: sizes of a slot
            select pg_relation_size(r), pg_total_relation_size(r) from (select ?::regclass) s(r)
            """;

    private static final String HOLDERS = """
            -- relay: who holds a lock on a slot
            select distinct
              coalesce('session ' || l.pid, 'prepared transaction ' || coalesce(quote_literal(p.gid), '?'))
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
     * @param detail what prevents it, for the operator; empty if nothing does
     */
    public record Outcome(Kind kind, String detail) {
        public enum Kind {
            EMPTIED,
            /**
             * Another session uses the slot. It may only be the relay's own poll, so an immediate retry makes sense.
             */
            LOCKED,
            UNSENT,
            /** A job sends its events again. */
            NEEDED,
            FORBIDDEN
        }

        static final Outcome EMPTIED = new Outcome(Kind.EMPTIED, "");
    }

    /**
     * How large a slot is, in bytes.
     *
     * @param rows bytes of the table alone; 0 if and only if it holds nothing, not even rows of aborted
     *     transactions
     * @param all bytes with indexes and large values
     */
    public record Size(long rows, long all) {}

    private final Connection connection;
    private final OutboxSchema tables;
    private final String relay;

    /**
     * The slots of one outbox, as one relay uses them.
     *
     * @param connection with the settings of {@link OutboxDatabase}, in auto-commit mode between calls
     */
    public EventSlots(Connection connection, OutboxSchema tables, String relay) {
        this.connection = connection;
        this.tables = tables;
        this.relay = relay;
    }

    /** The active slot: a transaction that begins now writes into it. */
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

    /** Empties the slot if no session uses it, all its events are sent, and no job sends them again. */
    public Outcome tryEmpty(int slot) throws SQLException {
        try {
            return Transactions.inTransaction(connection, () -> emptyUnderLock(slot));
        } catch (SQLException e) {
            return obstacle(e, slot);
        }
    }

    private Outcome emptyUnderLock(int slot) throws SQLException {
        execute(SETTINGS);
        Outcome needed = needed(slot); // Without the lock, which other sessions would wait for.
        if (needed != null) {
            return needed;
        }
        execute(sql(LOCK, slot));
        List<String> behind = unsent(slot);
        if (!behind.isEmpty()) {
            return new Outcome(Outcome.Kind.UNSENT, named(behind));
        }
        needed = needed(slot);
        if (needed != null) {
            return needed;
        }
        if (is(MAY_HAVE_JOBS) && !remember(slot)) {
            return new Outcome(Outcome.Kind.LOCKED, "in use");
        }
        execute(sql(TRUNCATE, slot));
        return Outcome.EMPTIED;
    }

    /**
     * Null if no job needs the slot. That is only certain under the slot's lock: a job that is requested later finds out what
     * is left, and waits for this lock.
     */
    private @Nullable Outcome needed(int slot) throws SQLException {
        if (!is(SEES_JOBS)) {
            return null;
        }
        try (PreparedStatement needed = connection.prepareStatement(sql(NEEDED, slot))) {
            List<String> jobs = texts(needed);
            return jobs.isEmpty() ? null : new Outcome(Outcome.Kind.NEEDED, jobs.get(0));
        }
    }

    private boolean is(String question) throws SQLException {
        try (PreparedStatement asked = connection.prepareStatement(question)) {
            asked.setString(1, tables.resend().sql());
            try (ResultSet row = asked.executeQuery()) {
                row.next();
                return row.getBoolean(1);
            }
        }
    }

    /** Returns false if the lease's row is locked by another session. */
    private boolean remember(int slot) throws SQLException {
        try (PreparedStatement remember = connection.prepareStatement(sql(REMEMBER, slot))) {
            remember.setString(1, relay);
            return remember.executeUpdate() == 1;
        }
    }

    private Outcome obstacle(SQLException failure, int slot) throws SQLException {
        if (SqlState.LOCK_NOT_AVAILABLE.isOf(failure)) {
            return new Outcome(Outcome.Kind.LOCKED, "in use");
        }
        if (OutboxDatabase.isRowSecurity(failure)) {
            return new Outcome(Outcome.Kind.FORBIDDEN, OutboxDatabase.explain(failure));
        }
        if (SqlState.INSUFFICIENT_PRIVILEGE.isOf(failure)) {
            return new Outcome(
                    Outcome.Kind.FORBIDDEN,
                    "the relay's role may not empty it (" + failure.getMessage() + "): grant truncate on "
                            + tables.eventsSlot(slot)
                            + " to the relay's role");
        }
        if (SqlState.subjectOf(failure) == FailureSubject.CONNECTION) {
            throw failure;
        }
        return new Outcome(
                Outcome.Kind.FORBIDDEN,
                "emptying it failed (" + failure.getMessage() + "): allow the relay's role to truncate "
                        + tables.eventsSlot(slot)
                        + ", a trigger may forbid it. To keep all events, set twinbox.relay.retention to "
                        + "forever and run \"migrate\"");
    }

    /** The relays that have not sent all of the slot. The answer is only certain under the slot's lock. */
    public List<String> unsent(int slot) throws SQLException {
        try (PreparedStatement unsent = connection.prepareStatement(sql(UNSENT, slot))) {
            unsent.setString(1, relay);
            return texts(unsent);
        }
    }

    /** The sessions and prepared transactions that use the slot now, for the operator. */
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
                // A literal, not a parameter: otherwise the plan reads all slots.
                .replace("{number}", Integer.toString(slot))
                .replace("{own}", LeaseTable.own(tables))
                .replace("{taken}", LeaseTable.TAKEN)
                .replace("{slot}", tables.eventsSlot(slot).sql())
                .replace("{events}", tables.events().sql())
                .replace("{position}", tables.position().sql())
                .replace("{resend}", tables.resend().sql())
                .replace("{lease}", tables.lease().sql());
    }

    private void execute(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
