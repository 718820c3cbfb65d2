package dev.twinbox.inbox.jdbc;

import dev.twinbox.ParkedEvent.State;
import dev.twinbox.inbox.event.Handler;
import dev.twinbox.inbox.event.ReceivedEvent;
import dev.twinbox.jdbc.SqlIdentifier;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The receiver's statements on the table of parked events: park, retry, make the next event of a key due. {@link
 * ParkedRows} has the operator's statements.
 *
 * <p>Each method runs in its caller's transaction.
 */
public final class ParkedTable {

    private static final String SUFFIX = "_parked";

    /** The count stops here, because it reads the rows one by one. */
    private static final int MOST_COUNTED = 10_000;

    /** How long a worker may take from taking an event to locking its row. After a crash the event waits as long. */
    private static final int SECONDS_TO_LOCK = 10;

    private static final String PARK = """
            -- inbox: park
            insert into %%s (consumer_group, handler, event_id, event_type, claims, event_source, state, topic, partition,
                             record_offset, record_time, record_key, record_value, header_names, header_values,
                             attempts, error, failed_at, next_try_at)
            values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, case when ? then clock_timestamp() end,
                    case when ? then %s end)
            on conflict do nothing""".formatted(ParkedColumns.NEXT_TRY.formatted("?"));

    /**
     * Takes the first event that is due. The attempt is counted before it is made, so that an event that kills the
     * process is counted too. The next attempt's time, set here, keeps other workers away until the row is locked. It is
     * at least {@link #SECONDS_TO_LOCK} away, however short the configured pauses are. Otherwise a slow worker's attempt
     * would be counted, and made by nobody.
     *
     * <p>The time has bounds on both sides. Events before the lower bound are settled. While a long transaction holds
     * back vacuum, their dead index entries stay. Without the lower bound each poll would walk over them.
     *
     * <p>The commit does not wait for the disk: a retry shall cost one such wait, as a new event does. Only a crash of
     * PostgreSQL can lose it. Then the handler's transaction is lost too, and the attempt is made again.
     */
    private static final String TAKE_DUE =
            """
            -- inbox: take a due event
            update %%1$s
               set attempts = attempts + 1,
                   next_try_at = greatest(%s, clock_timestamp() + interval '%d seconds')
             where number = (
               select d.number from %%1$s d
                where d.consumer_group = ? and d.state = 'retry' and d.next_try_at >= ?
                  and d.next_try_at <= statement_timestamp()
                  and (d.handler is null
                       or (d.topic, d.event_type, d.handler) in (select * from unnest(?::text[], ?::text[], ?::text[])))
                order by d.next_try_at
                limit 1
                for update skip locked)
            returning %s, set_config('synchronous_commit', 'off', true)""".formatted(ParkedColumns.NEXT_TRY.formatted("attempts + 1"), SECONDS_TO_LOCK, ParkedColumns.NAMES);

    /**
     * Waits, and does not skip. Another worker's {@link #TAKE_DUE} locks the row for a moment if it began before this
     * one's was committed: PostgreSQL locks a row's newest version before it sees that it is not due any more.
     */
    private static final String LOCK = """
            -- inbox: lock a parked event
            %s from %%s where number = ? and attempts = ? and state = 'retry' for update""".formatted(ClaimSession.SELECT);

    private static final String REMOVE = """
            -- inbox: remove a parked event
            delete from %s where number = ?""";

    private static final String FAILED_AGAIN = """
            -- inbox: store a failed retry
            update %%s
               set state = case when attempts >= ? then ? else state end,
                   next_try_at = case when attempts >= ? then null else %s end,
                   error = ?, failed_at = clock_timestamp()
             where number = ? and attempts = ? and state = 'retry'
            returning state""".formatted(ParkedColumns.NEXT_TRY.formatted("attempts"));

    private static final String GIVE_BACK = """
            -- inbox: take back an attempt that the database failed
            update %%s
               set attempts = attempts - 1, next_try_at = %s
             where number = ? and attempts = ? and state = 'retry'""".formatted(ParkedColumns.NEXT_TRY.formatted("1"));

    private static final String POSTPONE = """
            -- inbox: take back an attempt and store when the handler wants the next one
            update %%s
               set attempts = attempts - 1, next_try_at = %s, error = ?, failed_at = clock_timestamp()
             where number = ? and attempts = ? and state = 'retry'""".formatted(ParkedColumns.NEXT_TRY.formatted("1"));

    /**
     * Makes the first event of a key due. Two sides run it after their commits: who settles the first event, and who
     * parks an event after it. So at least one of them sees the other's change.
     */
    private static final String PROMOTE = """
            -- inbox: make the next event of a key due
            update %1$s
               set state = 'retry', next_try_at = clock_timestamp()
             where state = 'behind'
               and number = (
                 select number from %1$s
                  where consumer_group = ? and handler = ? and topic = ? and key_hash = ?
                    and state in ('retry', 'behind', 'dead')
                  order by number
                  limit 1)""";

    /** Does the same for all keys. It repairs what a crash between a commit and {@link #PROMOTE} left undone. */
    private static final String PROMOTE_ALL = """
            -- inbox: make the next event of each key due
            update %1$s p
               set state = 'retry', next_try_at = clock_timestamp()
             where p.consumer_group = ? and p.state = 'behind'
               and p.number = (
                 select number from %1$s h
                  where h.consumer_group = p.consumer_group and h.handler = p.handler and h.topic = p.topic
                    and h.key_hash = p.key_hash and h.state in ('retry', 'behind', 'dead')
                  order by number
                  limit 1)""";

    private static final String COUNT = """
            -- inbox: count parked events
            select count(*) filter (where state not in ('dead', 'passed')) as waiting,
                   count(*) filter (where state in ('dead', 'passed')) as dead
              from (select state from %s where consumer_group = ? and state <> 'begun' limit ?) p""";

    private final SqlIdentifier table;
    private final RecordedStarts starts;

    public ParkedTable(SqlIdentifier table) {
        this.table = table;
        this.starts = new RecordedStarts(table);
    }

    /**
     * Its name, which follows from that of the inbox table: {@code inbox_parked} for {@code inbox_event}.
     *
     * @throws IllegalArgumentException if the inbox table's name leaves no room for the suffix
     */
    public static SqlIdentifier name(SqlIdentifier inbox) {
        return inbox.sibling(SUFFIX);
    }

    /**
     * Parks an event that has failed. Does nothing if it is already parked.
     *
     * @param handler null if the record cannot be read at all
     */
    public void park(
            Connection connection,
            String group,
            ReceivedEvent event,
            @Nullable Handler handler,
            State state,
            int attempts,
            String error,
            Backoff backoff)
            throws SQLException {
        insert(connection, group, event, handler, state, attempts, error, true, backoff);
    }

    /**
     * Parks an event that has not failed. Does nothing if it is already parked.
     *
     * @param cause why it waits; null: for an earlier one
     */
    public void follow(
            Connection connection,
            String group,
            ReceivedEvent event,
            Handler handler,
            State state,
            @Nullable String cause,
            Backoff backoff)
            throws SQLException {
        insert(connection, group, event, handler, state, 0, cause, false, backoff);
    }

    private void insert(
            Connection connection,
            String group,
            ReceivedEvent event,
            @Nullable Handler handler,
            State state,
            int attempts,
            @Nullable String error,
            boolean hasFailed,
            Backoff backoff)
            throws SQLException {
        if (handler != null) {
            starts.end(connection, group, handler.name(), event);
        }
        try (PreparedStatement statement = connection.prepareStatement(PARK.formatted(table.sql()))) {
            int i = ParkedColumns.setIdentity(statement, group, event, handler);
            statement.setString(++i, ParkedColumns.text(state));
            i = ParkedColumns.setRecord(connection, statement, i, event.record());
            statement.setInt(++i, attempts);
            statement.setString(++i, OmittedTimestamp.addTo(error, event.record()));
            statement.setBoolean(++i, hasFailed);
            statement.setBoolean(++i, state == State.RETRY);
            i = ParkedColumns.setBackoff(statement, i, backoff);
            statement.setInt(++i, Math.max(1, attempts));
            statement.executeUpdate();
        }
    }

    /**
     * Takes the first event that is due.
     *
     * @param from events that were due before this time are ignored
     * @param handlers what this instance handles; an event of another version's handler is left to that version
     */
    public Optional<DueEvent> takeDue(
            Connection connection, String group, Instant from, List<AnnouncedHandler> handlers, Backoff backoff)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(TAKE_DUE.formatted(table.sql()))) {
            int i = ParkedColumns.setBackoff(statement, 0, backoff);
            statement.setString(++i, group);
            statement.setTimestamp(++i, Timestamp.from(from));
            AnnouncedHandler.bind(connection, statement, i, handlers);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? Optional.of(new DueEvent(ParkedColumns.read(row))) : Optional.empty();
            }
        }
    }

    /**
     * Locks the row until the end of the transaction. Returns null if another instance or an operator has changed it.
     */
    public @Nullable ClaimSession lock(Connection connection, DueEvent due) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(LOCK.formatted(table.sql()))) {
            statement.setLong(1, due.number());
            statement.setInt(2, due.attempt());
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? ClaimSession.read(row) : null;
            }
        }
    }

    public void remove(Connection connection, long number) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(REMOVE.formatted(table.sql()))) {
            statement.setLong(1, number);
            statement.executeUpdate();
        }
    }

    /** Stores a failure. Returns the new state; null if another instance or an operator has changed the row. */
    public @Nullable State failedAgain(
            Connection connection, DueEvent due, int most, State afterThat, String error, Backoff backoff)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(FAILED_AGAIN.formatted(table.sql()))) {
            statement.setInt(1, most);
            statement.setString(2, ParkedColumns.text(afterThat));
            statement.setInt(3, most);
            int i = ParkedColumns.setBackoff(statement, 3, backoff);
            statement.setString(++i, OmittedTimestamp.addTo(error, due.event().error()));
            statement.setLong(++i, due.number());
            statement.setInt(++i, due.attempt());
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? ParkedColumns.state(row.getString("state")) : null;
            }
        }
    }

    /** Takes the attempt back, because it did not fail because of the event. */
    public void giveBack(Connection connection, DueEvent due, Backoff backoff) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(GIVE_BACK.formatted(table.sql()))) {
            int i = ParkedColumns.setBackoff(statement, 0, backoff);
            statement.setLong(++i, due.number());
            statement.setInt(++i, due.attempt());
            statement.executeUpdate();
        }
    }

    /** Takes the attempt back, because the handler asked for another one after a delay. */
    public void postpone(Connection connection, DueEvent due, Duration delay, String error) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(POSTPONE.formatted(table.sql()))) {
            int i = ParkedColumns.setBackoff(statement, 0, Backoff.always(delay));
            statement.setString(++i, OmittedTimestamp.addTo(error, due.event().error()));
            statement.setLong(++i, due.number());
            statement.setInt(++i, due.attempt());
            statement.executeUpdate();
        }
    }

    /** Makes the first event of the key due, if the event that it waited for is gone. */
    public void promote(Connection connection, BlockedKey key) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(PROMOTE.formatted(table.sql()))) {
            statement.setString(1, key.group());
            statement.setString(2, key.handler());
            statement.setString(3, key.topic());
            statement.setBytes(4, key.keyHash());
            statement.executeUpdate();
        }
    }

    /** Does the same for all keys of the group. */
    public void promoteAll(Connection connection, String group) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(PROMOTE_ALL.formatted(table.sql()))) {
            statement.setString(1, group);
            statement.executeUpdate();
        }
    }

    /** The time by the database's clock. */
    public Instant now(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("select clock_timestamp()");
                ResultSet row = statement.executeQuery()) {
            row.next();
            return row.getTimestamp(1).toInstant();
        }
    }

    /**
     * The numbers of parked events, each up to a maximum.
     *
     * @param waiting events that are retried, or wait for one that is
     * @param dead events that are not retried
     */
    public record Counts(long waiting, long dead) {}

    public Counts count(Connection connection, String group) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(COUNT.formatted(table.sql()))) {
            statement.setString(1, group);
            statement.setInt(2, MOST_COUNTED);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return new Counts(row.getLong("waiting"), row.getLong("dead"));
            }
        }
    }
}
