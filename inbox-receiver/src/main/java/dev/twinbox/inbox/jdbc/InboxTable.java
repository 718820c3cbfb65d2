package dev.twinbox.inbox.jdbc;

import dev.twinbox.inbox.event.Delivery;
import dev.twinbox.jdbc.SqlIdentifier;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;

/**
 * The receiver's statements on the inbox table: claim events, give claims back, delete old rows. {@link InboxRows} has
 * the operator's statements.
 *
 * <p>Each method runs in its caller's transaction.
 */
public final class InboxTable {

    static final Map<String, String> COLUMNS = Map.of(
            "consumer_group", "text",
            "handler", "text",
            "event_id", "text",
            "event_source", "bigint",
            "handled_at", "timestamp with time zone");

    static final List<String> PRIMARY_KEY = List.of("consumer_group", "handler", "event_id", "event_source");

    /** The primary key until all instances write the source, see {@link EventIdentity}. */
    static final List<String> FORMER_PRIMARY_KEY = List.of("consumer_group", "handler", "event_id");

    /**
     * Before a claim: a generic plan that uses indexes only, and all rows.
     *
     * <p>To plan a claim costs three times as much as to claim one event, so the plan is kept. PostgreSQL alone would
     * not keep it, because it compares costs for a guessed number of events. A plan made while a table was small reads
     * the whole table for each row. It would stay in use after the table has grown, until the next analyze. Without
     * sequential scans there is no such plan.
     *
     * <p>A claim fails while row-level security hides rows from the role. An event whose inbox row or parked row is
     * hidden would be handled twice or out of order.
     *
     * <p>The settings end with the same round trip, so they do not affect the statements of the handlers.
     */
    static final String SET =
            "select set_config('enable_seqscan', 'off', true), set_config('row_security', 'off', true),"
                    + " set_config('plan_cache_mode', 'force_generic_plan', true);";

    /** After a claim. Without a value a setting is reset. */
    static final String RESET = ";%s, set_config('enable_seqscan', null, true),"
            + " set_config('row_security', null, true), set_config('plan_cache_mode', null, true)";

    /**
     * Claims deliveries, or reports why not.
     *
     * <p>All instances claim in the same order. Otherwise two instances that claim the same events would deadlock. If
     * another transaction has inserted a row and has not ended, the statement waits for its end.
     *
     * <p>It reads the inbox table before it inserts. An insert would wait for a session that deletes an old row of the
     * same event. A read finds that row until the delete is committed. For a duplicate a read is also cheaper than a
     * failed insert.
     *
     * <p>It reads the parked table too. A parked event is not handled here. An event whose key has parked events must
     * be parked after them.
     *
     * <p>A row or an event without a source matches every source. Rows of earlier versions have none.
     *
     * <p>Each read is one index scan for all events of a handler. {@code offset 0} keeps the planner from a join, which
     * would hash all that the group has ever handled.
     */
    private static final String CLAIM = SET + """
            -- inbox: claim
            with asked as materialized (
              select *
                from unnest(?::text[], ?::text[], ?::bytea[], ?::boolean[], ?::bigint[]) with ordinality
                     as c (handler, event_id, key_hash, claims, event_source, place)
            ), handlers as materialized (
              select distinct handler from asked
            ), parked as materialized (
              select h.handler, p.event_id, p.event_source
                from handlers h
               cross join lateral (
                 select p.event_id, p.event_source from %2$s p
                  where p.consumer_group = ? and p.handler = h.handler
                    and p.event_id = any (array(select a.event_id from asked a))
                    and p.state <> 'begun'
                 offset 0) p
            ), held as materialized (
              select h.handler, p.key_hash
                from handlers h
               cross join lateral (
                 select p.key_hash from %2$s p
                  where p.consumer_group = ? and p.handler = h.handler and p.topic = ?
                    and p.key_hash = any (array(select a.key_hash from asked a))
                    and p.state in ('retry', 'behind', 'dead')
                 offset 0) p
            ), known as materialized (
              select h.handler, i.event_id, i.event_source
                from handlers h
               cross join lateral (
                 select i.event_id, i.event_source from %1$s i
                  where i.consumer_group = ? and i.handler = h.handler
                    and i.event_id = any (array(select a.event_id from asked a))
                 offset 0) i
            ), wanted as materialized (
              select a.handler, a.event_id, a.event_source, a.claims, a.place,
                     %3$s as parked,
                     a.key_hash is not null
                       and (a.handler, a.key_hash) in (select handler, key_hash from held) as held,
                     a.claims and %4$s as known
                from asked a
            ), claimed as (
              insert into %1$s (consumer_group, handler, event_id, event_source)
              select ?, w.handler, w.event_id, w.event_source
                from wanted w
               where w.claims and not w.parked and not w.held and not w.known
               order by w.handler collate "C", w.event_id collate "C", w.event_source
              on conflict do nothing
              returning handler, event_id, event_source
            )
            select c.handler, c.event_id, c.event_source, 'TO_HANDLE', 0 from claimed c
            union all
            select w.handler, w.event_id, w.event_source, case when w.parked then 'DONE' else 'TO_FOLLOW' end, w.place
              from wanted w
             where (w.held or w.parked) and not w.known and not (w.claims and w.parked)""" + RESET.formatted(ClaimSession.SELECT);

    /** Whether an event that is asked for is among the rows. Each part is a hash of few rows. */
    private static String isAmong(String rows) {
        return """
                ((a.handler, a.event_id, a.event_source) in (select handler, event_id, event_source from %1$s)
                 or (a.handler, a.event_id) in (select handler, event_id from %1$s where event_source = 0)
                 or (a.event_source = 0 and (a.handler, a.event_id) in (select handler, event_id from %1$s)))""".formatted(rows);
    }

    private static final String IS_KNOWN = """
            -- inbox: whether an event is known
            select from %s
             where consumer_group = ? and handler = ? and event_id = ? and (? = 0 or event_source in (0, ?))""";

    /** Claims a parked event. Used by the instance that has locked its parked row. */
    private static final String CLAIM_PARKED = """
            -- inbox: claim a parked event
            insert into %1$s (consumer_group, handler, event_id, event_source)
            select ?, ?, ?, ?
             where not exists (
               select from %1$s
                where consumer_group = ? and handler = ? and event_id = ? and (? = 0 or event_source in (0, ?)))
            on conflict do nothing""";

    private static final String UNCLAIM = SET + """
            -- inbox: delete claims of events that were not handled
            delete from %1$s
             where ctid = any (array(
               select i.place
                 from unnest(?::text[], ?::text[], ?::bigint[]) as c (handler, event_id, event_source)
                cross join lateral (
                  select i.ctid as place from %1$s i
                   where i.consumer_group = ? and i.handler = c.handler and i.event_id = c.event_id
                     and i.event_source = c.event_source
                  offset 0) i))""" + RESET.formatted("select 1");

    /**
     * Deletes one batch of the oldest rows. The time has bounds on both sides. While a long transaction holds back
     * vacuum, index entries of deleted rows stay. Without the lower bound each batch would walk over them again.
     *
     * <p>A claim does not wait for this statement, because it reads before it inserts. To skip rows that another
     * session has locked would need the privilege to update.
     *
     * <p>The row of a parked event stays. Of two instances one may have parked the event and the other one handled it.
     * A later redelivery must find the row.
     */
    private static final String DELETE_EXPIRED = AllRows.required("""
            -- inbox: delete rows whose retention is over
            with due as materialized (
              select i.ctid as place, i.handler, i.event_id, i.handled_at
                from %1$s i
               where i.consumer_group = ? and i.handled_at >= ? and i.handled_at < ?
                 and i.handled_at > '-infinity' -- the partial index has this condition; claims must not use that index
               order by i.handled_at
               limit ?
            ), gone as (
              delete from %1$s
               where ctid = any (array(
                 select d.place from due d
                  where (select true from %2$s p
                          where p.consumer_group = ? and p.handler = d.handler and p.event_id = d.event_id
                            and p.state <> 'begun'
                          limit 1) is not true))
              returning 1
            )
            select (select count(*) from due) as found,
                   (select max(handled_at) from due) as last,
                   (select count(*) from gone) as deleted""");

    private final SqlIdentifier table;
    private final String claim;
    private final String isKnown;
    private final String claimParked;
    private final String unclaim;
    private final String deleteExpired;

    public InboxTable(SqlIdentifier table, SqlIdentifier parked) {
        this.table = table;
        this.claim = CLAIM.formatted(table.sql(), parked.sql(), isAmong("parked"), isAmong("known"));
        this.isKnown = IS_KNOWN.formatted(table.sql());
        this.claimParked = CLAIM_PARKED.formatted(table.sql());
        this.unclaim = UNCLAIM.formatted(table.sql());
        this.deleteExpired = DELETE_EXPIRED.formatted(table.sql(), parked.sql());
    }

    /** Receives the answers of {@link #claim}. */
    public interface ClaimSink {
        void accept(Delivery delivery, ClaimResult result);
    }

    /**
     * Claims deliveries in the caller's transaction. If one of a handler that claims is there twice, the first one is
     * asked for. The other one gets no answer, because it is a duplicate.
     *
     * @param deliveries of one topic
     * @return the session of the connection, and its transaction
     */
    public ClaimSession claim(Connection connection, String group, List<Delivery> deliveries, ClaimSink sink)
            throws SQLException {
        ClaimParameters asked = new ClaimParameters(deliveries);
        try (PreparedStatement statement = connection.prepareStatement(claim)) {
            int i = asked.bind(connection, statement);
            statement.setString(++i, group);
            statement.setString(++i, group);
            statement.setString(++i, deliveries.get(0).event().record().topic());
            statement.setString(++i, group);
            statement.setString(++i, group);
            executeByIndex(statement);
            try (ResultSet rows = statement.getResultSet()) {
                while (rows.next()) {
                    int place = rows.getInt(5);
                    Delivery delivery = place == 0
                            ? asked.claimed(rows.getString(1), rows.getString(2), rows.getLong(3))
                            : asked.at(place);
                    sink.accept(delivery, ClaimResult.valueOf(rows.getString(4)));
                }
            }
            statement.getMoreResults();
            try (ResultSet session = statement.getResultSet()) {
                session.next();
                return ClaimSession.read(session);
            }
        }
    }

    static void executeByIndex(PreparedStatement statement) throws SQLException {
        statement.execute();
        statement.getMoreResults(); // after the result of the settings
    }

    /** Whether the inbox has the event, as far as is committed. Waits for nobody. */
    public boolean isKnown(Connection connection, String group, Delivery delivery) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(isKnown)) {
            int i = setIdentity(statement, 0, group, delivery);
            statement.setLong(++i, delivery.event().source());
            try (ResultSet row = statement.executeQuery()) {
                return row.next();
            }
        }
    }

    /** Claims a parked event in the caller's transaction. Returns false if its effect has already happened. */
    public boolean claimParked(Connection connection, String group, Delivery delivery) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(claimParked)) {
            int i = setIdentity(statement, 0, group, delivery);
            i = setIdentity(statement, i, group, delivery);
            statement.setLong(++i, delivery.event().source());
            return statement.executeUpdate() == 1;
        }
    }

    private static int setIdentity(PreparedStatement statement, int before, String group, Delivery delivery)
            throws SQLException {
        statement.setString(before + 1, group);
        statement.setString(before + 2, delivery.handler().name());
        statement.setString(before + 3, delivery.event().id());
        statement.setLong(before + 4, delivery.event().source());
        return before + 4;
    }

    /**
     * Whether the event's effect has happened. If a transaction that may have committed has not ended yet, waits for
     * its end: it holds the row that this method tries to insert.
     */
    public boolean isHandled(Connection connection, String group, Delivery delivery) throws SQLException {
        if (!claimParked(connection, group, delivery)) {
            return true;
        }
        unclaim(connection, group, List.of(delivery));
        return false;
    }

    /** Deletes, in the caller's transaction, claims that it made and whose events were not handled. */
    public void unclaim(Connection connection, String group, List<Delivery> claimed) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(unclaim)) {
            int i = new ClaimParameters(claimed).bindIdentities(connection, statement);
            statement.setString(++i, group);
            executeByIndex(statement);
            int deleted = statement.getUpdateCount();
            if (deleted != claimed.size()) {
                throw new SQLException(
                        "only " + deleted + " of " + claimed.size() + " claims in " + table + " could be deleted");
            }
        }
    }

    /**
     * The result of a batch of old rows.
     *
     * @param to the next batch starts at this time
     * @param isFull whether there may be more
     */
    public record Expired(int deleted, Instant to, boolean isFull) {}

    /**
     * Deletes, in the caller's transaction, rows of events handled at {@code from} or later and before {@code until}.
     *
     * @param most how many rows are read at most
     */
    public Expired deleteExpired(Connection connection, String group, Instant from, Instant until, int most)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(deleteExpired)) {
            statement.setString(1, group);
            statement.setTimestamp(2, Timestamp.from(from));
            statement.setTimestamp(3, Timestamp.from(until));
            statement.setInt(4, most);
            statement.setString(5, group);
            try (ResultSet row = AllRows.query(statement)) {
                row.next();
                int found = row.getInt("found");
                int deleted = row.getInt("deleted");
                if (found == 0) {
                    return new Expired(0, until, false);
                }
                // A full batch may have one single time. If no row of it can be deleted, the next batch must start
                // later.
                Instant last = row.getTimestamp("last").toInstant();
                return new Expired(deleted, deleted == 0 ? last.plus(1, ChronoUnit.MICROS) : last, found == most);
            }
        }
    }
}
