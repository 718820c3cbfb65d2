package dev.twinbox.relay.jdbc;

import dev.twinbox.jdbc.Transactions;
import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelayException;
import dev.twinbox.schema.OutboxSchema;
import java.math.BigInteger;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.util.ArrayList;
import java.util.List;

/**
 * Lets the relays continue after the outbox's database was restored into another cluster. The transaction ids in rows
 * and the snapshots in positions come from the old cluster. Compared with each other they still show which events were
 * sent. Compared with the new cluster's ids they mean nothing. So a rebase does three things:
 *
 * <ul>
 *   <li>Unsent events get the id of the rebase's own transaction, and new numbers in their order of sending.
 *   <li>Sent events get an id that has ended in every snapshot.
 *   <li>Each relay gets a position in which the rebase's transaction is still in progress.
 * </ul>
 *
 * <p>All this is one transaction, under a lock that waits for writers and blocks new ones. A transaction that already
 * has an id may write after the rebase. It is in progress in the new positions as well.
 *
 * <p>An event counts as unsent if nothing proves that it was sent. It is then repeated with its old id, but never lost.
 */
public final class Rebase {
    private static final String LOCK = """
            -- rebase: keep writers out
            lock table {events}, {scheduled}, {position}, {lease} in share row exclusive mode
            """;

    private static final String SETTINGS = """
            -- rebase: plans that read whole tables
            select set_config('enable_seqscan', 'on', true), set_config('enable_bitmapscan', 'on', true),
              set_config('statement_timeout', '0', true)
            """;

    private static final String RUNNING = """
            -- rebase: relays that run here
            select relay from {lease}
            where (events is null or events = {own}) and system_identifier = ? and owner is not null
              and ends_at > clock_timestamp()
            order by relay
            """;

    private static final String RELAYS = """
            -- rebase: relays of this outbox
            select relay from {lease} where events is null or events = {own} order by relay
            """;

    /**
     * What each relay has still to send. A row that was written in this cluster carries the id of its transaction here.
     * If the write was within a savepoint, the id is slightly below that of the transaction, and later than the
     * restore. An id of the old cluster fits only by accident.
     *
     * <p>Without a lease no relay has sent anything. The position of a relay that has run in this cluster proves nothing
     * about a row that was copied from another one, unless an earlier rebase has judged it.
     */
    private static final String FIND = """
            -- rebase: find what was not sent
            create temporary table twinbox_rebase on commit drop as
            select e.tableoid as slot_table, e.ctid as place, e.seq,
              bool_or(h.here) as here,
              bool_or(p.number is null or not pg_visible_in_snapshot(e.tx, p.window_from)
                and not (p.window_to is not null and pg_visible_in_snapshot(e.tx, p.window_to)
                  and e.seq <= p.seq)
                or l.system_identifier = {cluster} and not h.here and e.tx <> '3') as unsent,
              bool_and(p.window_to is not null and pg_visible_in_snapshot(e.tx, p.window_to)) as first_window
            from {events} e
              cross join lateral (
                select e.xmin::text::bigint as writer, e.tx::text::numeric % 4294967296 as own) x
              left join {lease} l on {taken} and (l.events is null or l.events = {own})
              cross join lateral (
                select x.writer = x.own or coalesce(x.writer > x.own and x.writer - x.own < 100000
                  and age(e.xmin) < age(l.xmin), false) as here) h
              left join lateral (
                select number, window_from, window_to, seq from {position} p where p.relay = l.relay
                order by number desc limit 1) p on true
            group by e.tableoid, e.ctid, e.seq
            """;

    private static final String COUNT = """
            -- rebase: count
            select count(*) filter (where not unsent and not here), count(*) filter (where unsent and not here),
              count(*) filter (where here)
            from twinbox_rebase
            """;

    /** New numbers are drawn in the order in which the events are to be sent. */
    private static final String STAMP_UNSENT = """
            -- rebase: stamp what was not sent
            update {events} e set tx = pg_current_xact_id(), seq = o.new_seq
            from (
              select slot_table, place, nextval({sequence}) as new_seq
              from (select slot_table, place from twinbox_rebase where unsent or here
                order by here, first_window desc, seq) s) o
            where e.tableoid = o.slot_table and e.ctid = o.place
            """;

    /** The id 3 is the first that a cluster assigns: it has ended in every snapshot. */
    private static final String STAMP_SENT = """
            -- rebase: stamp what was sent
            update {events} e set tx = '3'
            from twinbox_rebase r
            where not (r.unsent or r.here) and e.tableoid = r.slot_table and e.ctid = r.place
              and not pg_visible_in_snapshot(e.tx, ?::pg_snapshot)
            """;

    /**
     * Only the due times of scheduled events count. But ids beyond those of this cluster would be read again and again.
     */
    private static final String STAMP_SCHEDULED = """
            -- rebase: stamp scheduled events
            update {scheduled} set tx = '3' where not pg_visible_in_snapshot(tx, ?::pg_snapshot)
            """;

    private static final String SNAPSHOT = """
            -- rebase: where the positions begin
            select pg_current_xact_id()::text, pg_current_snapshot()::text
            """;

    private static final String POSITION = """
            -- rebase: new positions
            insert into {position} (slot, relay, number, epoch, window_from)
            select coalesce(p.slot, 0), l.relay, coalesce(p.number, 0) + 1, l.epoch + 1, ?::pg_snapshot
            from {lease} l
              left join lateral (
                select slot, number from {position} p where p.relay = l.relay order by number desc limit 1) p on true
            where l.events is null or l.events = {own}
            """;

    /** A row without Kafka's number. The relay sets the number when it begins. */
    private static final String FORGET_KAFKA = """
            -- rebase: positions that do not depend on Kafka
            insert into {position} (slot, relay, number, epoch, window_from, window_to, seq)
            select slot, relay, number + 1, epoch, window_from, window_to, seq
            from {position} where relay = ? order by number desc limit 1
            """;

    /** What a job counts as sent is a position of the other cluster. */
    private static final String END_JOBS = """
            -- rebase: end jobs
            update {resend} set state = 'failed', error = 'the outbox was rebased: request it again',
              ended_at = clock_timestamp()
            where state in ('requested', 'running')
            """;

    private static final String ADOPT = """
            -- rebase: adopt the leases
            update {lease} l set system_identifier = ?, epoch = epoch + 1, owner = null,
              ends_at = case when {taken} then clock_timestamp() else ends_at end
            where events is null or events = {own}
            """;

    /**
     * What was done, or would be done.
     *
     * @param relays whose positions were set
     * @param sent restored events that had been sent
     * @param unsent restored events that had not been sent
     * @param here events that were written in this cluster
     */
    public record Result(List<String> relays, long sent, long unsent, long here) {}

    private final Connection connection;
    private final OutboxSchema tables;

    /**
     * Changes nothing yet.
     *
     * @param connection of the tables' owner, without an open transaction
     */
    public Rebase(Connection connection, OutboxSchema tables) {
        this.connection = connection;
        this.tables = tables;
    }

    /** Returns what {@link #run} would do, and changes nothing. */
    public Result preview(long systemIdentifier) throws SQLException {
        return Transactions.inRolledBackTransaction(connection, () -> rebase(systemIdentifier));
    }

    /**
     * Rebases the outbox.
     *
     * @throws RelayException if a relay of this outbox is running
     */
    public Result run(long systemIdentifier) throws SQLException {
        return Transactions.inTransaction(connection, () -> rebase(systemIdentifier));
    }

    /**
     * Adopts the leases only. For a cluster made by {@code pg_upgrade}, in which transaction ids continue.
     *
     * @throws RelayException if a relay of this outbox is running
     */
    public List<String> adopt(long systemIdentifier) throws SQLException {
        return Transactions.inTransaction(connection, () -> {
            execute(LOCK);
            refuseIfRunning(systemIdentifier);
            List<String> relays = relays(RELAYS);
            adoptLeases(systemIdentifier);
            return relays;
        });
    }

    /**
     * Makes an exactly-once relay continue from its position in the database, whatever Kafka has committed.
     *
     * @return its name, if it has a position
     * @throws RelayException if a relay of this outbox is running
     */
    public List<String> forgetKafka(long systemIdentifier, String relay) throws SQLException {
        return Transactions.inTransaction(connection, () -> {
            execute(LOCK);
            refuseIfRunning(systemIdentifier);
            try (PreparedStatement forget = connection.prepareStatement(sql(FORGET_KAFKA))) {
                forget.setString(1, relay);
                return forget.executeUpdate() == 0 ? List.<String>of() : List.of(relay);
            }
        });
    }

    private Result rebase(long systemIdentifier) throws SQLException {
        execute(SETTINGS);
        execute(LOCK);
        refuseIfRunning(systemIdentifier);
        execute(FIND.replace("{cluster}", Long.toString(systemIdentifier)));
        Result result = count(relays(RELAYS));
        String from = beforeThisTransaction();
        new UncheckedConstraints(connection, tables.events(), tables.scheduled()).without(() -> {
            execute(STAMP_UNSENT);
            executeWith(STAMP_SENT, from);
            executeWith(STAMP_SCHEDULED, from);
        });
        executeWith(POSITION, from);
        if (tables.version(connection) >= StartCheck.RESEND_SINCE) {
            execute(END_JOBS);
        }
        adoptLeases(systemIdentifier);
        return result;
    }

    private void refuseIfRunning(long systemIdentifier) throws SQLException {
        List<String> running;
        try (PreparedStatement statement = connection.prepareStatement(sql(RUNNING))) {
            statement.setLong(1, systemIdentifier);
            running = texts(statement);
        }
        if (!running.isEmpty()) {
            throw new RelayException(
                    ExitCode.USAGE,
                    "these relays run on " + tables.events() + " in this cluster, so their positions are good here: "
                            + String.join(", ", running) + ". To rebase nevertheless, stop them first");
        }
    }

    /**
     * A snapshot in which this transaction and all others that run are in progress. PostgreSQL itself leaves out the
     * transaction that asks.
     */
    private String beforeThisTransaction() throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(SNAPSHOT)) {
            row.next();
            return Snapshot.parse(row.getString(2))
                    .including(new BigInteger(row.getString(1)))
                    .text();
        }
    }

    private Result count(List<String> relays) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(COUNT)) {
            row.next();
            return new Result(relays, row.getLong(1), row.getLong(2), row.getLong(3));
        }
    }

    private void adoptLeases(long systemIdentifier) throws SQLException {
        try (PreparedStatement adopt = connection.prepareStatement(sql(ADOPT))) {
            adopt.setLong(1, systemIdentifier);
            adopt.executeUpdate();
        }
    }

    private List<String> relays(String statement) throws SQLException {
        try (PreparedStatement relays = connection.prepareStatement(sql(statement))) {
            return texts(relays);
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

    private void executeWith(String statement, String snapshot) throws SQLException {
        try (PreparedStatement update = connection.prepareStatement(sql(statement))) {
            update.setObject(1, snapshot, Types.OTHER);
            update.executeUpdate();
        }
    }

    private void execute(String statement) throws SQLException {
        try (Statement execution = connection.createStatement()) {
            execution.execute(sql(statement));
        }
    }

    private String sql(String statement) {
        return statement
                .replace("{own}", LeaseTable.own(tables))
                .replace("{taken}", LeaseTable.TAKEN)
                .replace("{sequence}", tables.eventsSequence().sqlLiteral())
                .replace("{events}", tables.events().sql())
                .replace("{scheduled}", tables.scheduled().sql())
                .replace("{resend}", tables.resend().sql())
                .replace("{position}", tables.position().sql())
                .replace("{lease}", tables.lease().sql());
    }
}
