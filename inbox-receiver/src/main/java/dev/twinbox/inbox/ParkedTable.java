package dev.twinbox.inbox;

import dev.twinbox.SchemaException;
import dev.twinbox.inbox.ParkedEvent.State;
import dev.twinbox.jdbc.SqlIdentifier;
import java.nio.charset.StandardCharsets;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;

/** All SQL of the parked table. Each method works in its caller's transaction. */
final class ParkedTable {

    /** Longest part of what is not looked at one by one. */
    private static final int MOST_COUNTED = 10_000;

    private static final String COLUMNS = """
            number, consumer_group, handler, event_id, event_type, claims, state, topic, partition, record_offset, record_time,
            record_key, record_value, header_names, header_values, attempts, error, parked_at, failed_at, next_try_at""";

    /** Waits grow from attempt to attempt up to a cap; half of each is by chance, or all that failed together return together. */
    private static final String BACK_OFF =
            "clock_timestamp() + make_interval(secs => least(?, ? * power(2, least(%s, 30) - 1)) * (0.5 + random() / 2))";

    private static final String PARK = """
            -- inbox: park
            insert into %%s (consumer_group, handler, event_id, event_type, claims, state, topic, partition, record_offset,
                            record_time, record_key, record_value, header_names, header_values, attempts, error, failed_at,
                            next_try_at)
            values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, case when ? then clock_timestamp() end,
                    case when ? then %s end)
            on conflict do nothing""".formatted(BACK_OFF.formatted("?"));

    /** Would keep its event from being parked, and stands too far ahead in the line. */
    private static final String END_BEGUN = """
            -- inbox: end what was begun
            delete from %s where consumer_group = ? and handler = ? and event_id = ? and state = 'begun'""";

    /** Counts, committed, that a handler is about to be called; for what may end the process. */
    private static final String BEGIN = """
            -- inbox: begin after a crash
            insert into %1$s as p (consumer_group, handler, event_id, event_type, claims, state, topic, partition,
                                   record_offset, record_time, record_key, record_value, header_names, header_values, attempts)
            values (?, ?, ?, ?, ?, 'begun', ?, ?, ?, ?, ?, ?, ?, ?, 1)
            on conflict (consumer_group, handler, event_id) where handler is not null
            do update set attempts = p.attempts + 1, parked_at = clock_timestamp() where p.state = 'begun'
            returning number, attempts""";

    private static final String FAIL_BEGUN = """
            -- inbox: park what was begun
            update %%s
               set state = ?, attempts = ?, error = ?, failed_at = clock_timestamp(),
                   next_try_at = case when ? then %s end
             where number = ? and state = 'begun'""".formatted(BACK_OFF.formatted("?"));

    /**
     * The first that is due, its attempt counted before it is made: an event that ends the process counts too. The next
     * attempt's time, set here, keeps others away until the row is locked. Bounds on both sides: what lies below the lower one
     * has been settled, and while a long transaction of anybody's holds back vacuum its dead entries would be walked by each
     * poll.
     */
    private static final String TAKE_DUE = """
            -- inbox: take what is due
            update %%1$s
               set attempts = attempts + 1, next_try_at = %s
             where number = (
               select d.number from %%1$s d
                where d.consumer_group = ? and d.state = 'retry' and d.next_try_at >= ?
                  and d.next_try_at <= statement_timestamp()
                  and (d.handler is null or d.handler = any (?))
                order by d.next_try_at
                limit 1
                for update skip locked)
            returning %s""".formatted(BACK_OFF.formatted("attempts + 1"), COLUMNS);

    private static final String LOCK = """
            -- inbox: lock a parked event
            select from %s where number = ? and attempts = ? and state = 'retry' for update skip locked""";

    private static final String REMOVE = """
            -- inbox: remove a parked event
            delete from %s where number = ?""";

    private static final String FAILED_AGAIN = """
            -- inbox: note that a retry failed
            update %%s
               set state = case when attempts >= ? then ? else state end,
                   next_try_at = case when attempts >= ? then null else %s end,
                   error = ?, failed_at = clock_timestamp()
             where number = ? and attempts = ? and state = 'retry'
            returning state""".formatted(BACK_OFF.formatted("attempts"));

    private static final String GIVE_BACK = """
            -- inbox: take back an attempt that was not the event's fault
            update %%s
               set attempts = attempts - 1, next_try_at = %s
             where number = ? and attempts = ? and state = 'retry'""".formatted(BACK_OFF.formatted("1"));

    /** By both, who settles the first of a key and who parks behind it, after their commits: one of them sees the other's. */
    private static final String PROMOTE = """
            -- inbox: the next of a key
            update %1$s
               set state = 'retry', next_try_at = clock_timestamp()
             where state = 'behind'
               and number = (
                 select number from %1$s
                  where consumer_group = ? and handler = ? and topic = ? and key_hash = ?
                    and state in ('retry', 'behind', 'dead')
                  order by number
                  limit 1)""";

    /** For what a crash between commit and {@link #PROMOTE} left behind. */
    private static final String PROMOTE_ALL = """
            -- inbox: the next of all keys
            update %1$s p
               set state = 'retry', next_try_at = clock_timestamp()
             where p.consumer_group = ? and p.state = 'behind'
               and p.number = (
                 select number from %1$s h
                  where h.consumer_group = p.consumer_group and h.handler = p.handler and h.topic = p.topic
                    and h.key_hash = p.key_hash and h.state in ('retry', 'behind', 'dead')
                  order by number
                  limit 1)""";

    /** Of processes that were stopped between two tries; what they were at has been handled since. */
    private static final String FORGET_BEGUN = """
            -- inbox: forget what was begun long ago
            delete from %s where consumer_group = ? and state = 'begun' and parked_at < clock_timestamp() - interval '24 hours'""";

    private static final String COUNT = """
            -- inbox: count parked events
            select count(*) filter (where state not in ('dead', 'passed')), count(*) filter (where state in ('dead', 'passed'))
              from (select state from %s where consumer_group = ? and state <> 'begun' limit ?) p""";

    private static final String LIST = """
            -- inbox: list parked events
            select %s
              from (select number as n from %%1$s
                     where state <> 'begun' and number > ? and (?::text is null or consumer_group = ?)
                     order by number limit ?) page
              join %%1$s on number = n
             order by number""".formatted(COLUMNS.replace("record_value", "null::bytea as record_value"));

    private static final String FIND = """
            -- inbox: show a parked event
            select %s from %%s where number = ? and state <> 'begun'""".formatted(COLUMNS);

    /** Twice is once: what is due already, or waits behind another one, is left as it is. */
    private static final String REDRIVE = """
            -- inbox: send a parked event again
            update %s
               set state = 'retry', attempts = 0, next_try_at = clock_timestamp()
             where number = ?
               and (state in ('dead', 'passed') or (state = 'retry' and (attempts > 0 or next_try_at > clock_timestamp())))""";

    /** The inbox row comes with it: an event that was given up must not come back by a repetition. */
    private static final String DISCARD = """
            -- inbox: discard a parked event
            with gone as (
              delete from %2$s where number = ? and state <> 'begun'
              returning consumer_group, handler, event_id, claims, topic, key_hash
            ), settled as (
              insert into %1$s (consumer_group, handler, event_id)
              select consumer_group, handler, event_id from gone where claims and handler is not null
              on conflict do nothing
            )
            select consumer_group, handler, topic, key_hash from gone""";

    private static final String INSPECT = """
            -- inbox: check parked table
            select t.oid is not null,
                   (select count(*) from pg_attribute a
                     where a.attrelid = t.oid and not a.attisdropped and a.attname = any (?)) = ?,
                   coalesce(has_table_privilege(t.oid, 'SELECT'), false)
                     and coalesce(has_table_privilege(t.oid, 'INSERT'), false)
                     and coalesce(has_table_privilege(t.oid, 'UPDATE'), false)
                     and coalesce(has_table_privilege(t.oid, 'DELETE'), false),
                   current_user, current_database(), current_setting('search_path')
              from (select to_regclass(?)::oid) t (oid)""";

    private final SqlIdentifier table;
    private final SqlIdentifier inbox;

    ParkedTable(SqlIdentifier inbox, SqlIdentifier table) {
        this.inbox = inbox;
        this.table = table;
    }

    /**
     * Who waits for whom.
     *
     * @param keyHash SHA-256 of the record's key
     */
    @SuppressWarnings("ArrayRecordComponent") // compared by nobody
    record Line(String group, String handler, String topic, byte[] keyHash) {}

    /** A parked event whose time has come: the row's number, and the attempt that it is taken for. */
    record Due(ParkedEvent event) {
        long number() {
            return event.number();
        }

        String group() {
            return event.group();
        }

        @Nullable String handler() {
            return event.handler();
        }

        int attempt() {
            return event.attempts();
        }

        /** As Kafka handed it over. */
        ConsumerRecord<byte[], byte[]> record() {
            RecordHeaders headers = new RecordHeaders();
            event.headers().forEach(header -> headers.add(header.name(), header.value()));
            Instant time = event.time();
            return new ConsumerRecord<>(
                    event.topic(),
                    event.partition(),
                    event.offset(),
                    time == null ? ConsumerRecord.NO_TIMESTAMP : time.toEpochMilli(),
                    TimestampType.CREATE_TIME,
                    ConsumerRecord.NULL_SIZE,
                    ConsumerRecord.NULL_SIZE,
                    event.key(),
                    event.value(),
                    headers,
                    Optional.empty());
        }
    }

    /**
     * How often an event was begun after a crash.
     *
     * @param number of its row
     * @param times this time included
     */
    record Begun(long number, int times) {}

    /**
     * Parks an event; does nothing if it is parked already.
     *
     * @param handler null: the record can not be read at all
     * @param error null for what only waits behind another one
     */
    void park(
            Connection connection,
            String group,
            ReceivedEvent event,
            @Nullable Handler handler,
            State state,
            int attempts,
            @Nullable String error,
            Backoff backoff)
            throws SQLException {
        if (handler != null) {
            endBegun(connection, group, handler.name(), event.id());
        }
        try (PreparedStatement statement = connection.prepareStatement(PARK.formatted(table.sql()))) {
            int i = setIdentity(statement, group, event, handler);
            statement.setString(++i, state.text());
            i = setRecord(connection, statement, i, event.record());
            statement.setInt(++i, attempts);
            statement.setString(++i, error);
            statement.setBoolean(++i, error != null);
            statement.setBoolean(++i, state == State.RETRY);
            i = setBackoff(statement, i, backoff);
            statement.setInt(++i, Math.max(1, attempts));
            statement.executeUpdate();
        }
    }

    private void endBegun(Connection connection, String group, String handler, String eventId) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(END_BEGUN.formatted(table.sql()))) {
            statement.setString(1, group);
            statement.setString(2, handler);
            statement.setString(3, eventId);
            statement.executeUpdate();
        }
    }

    /** Notes that the handler is about to be called; null: the event is parked. */
    @Nullable Begun begin(Connection connection, String group, ReceivedEvent event, Handler handler) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(BEGIN.formatted(table.sql()))) {
            int i = setIdentity(statement, group, event, handler);
            setRecord(connection, statement, i, event.record());
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? new Begun(row.getLong(1), row.getInt(2)) : null;
            }
        }
    }

    /** Turns what was begun into a parked event. */
    void failBegun(Connection connection, long number, State state, int attempts, String error, Backoff backoff)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(FAIL_BEGUN.formatted(table.sql()))) {
            statement.setString(1, state.text());
            statement.setInt(2, attempts);
            statement.setString(3, error);
            statement.setBoolean(4, state == State.RETRY);
            int i = setBackoff(statement, 4, backoff);
            statement.setInt(++i, Math.max(1, attempts));
            statement.setLong(++i, number);
            statement.executeUpdate();
        }
    }

    private static int setIdentity(
            PreparedStatement statement, String group, ReceivedEvent event, @Nullable Handler handler)
            throws SQLException {
        statement.setString(1, group);
        statement.setString(2, handler == null ? null : handler.name());
        statement.setString(3, event.idOrNull());
        statement.setString(4, event.typeOrNull());
        statement.setBoolean(5, handler != null && handler.claims());
        return 5;
    }

    private static int setRecord(
            Connection connection, PreparedStatement statement, int before, ConsumerRecord<byte[], byte[]> record)
            throws SQLException {
        int i = before;
        List<byte[]> names = new ArrayList<>();
        List<byte @Nullable []> values = new ArrayList<>();
        for (Header header : record.headers()) {
            names.add(header.key().getBytes(StandardCharsets.UTF_8));
            values.add(header.value());
        }
        statement.setString(++i, record.topic());
        statement.setInt(++i, record.partition());
        statement.setLong(++i, record.offset());
        statement.setTimestamp(++i, record.timestamp() < 0 ? null : new Timestamp(record.timestamp()));
        statement.setBytes(++i, record.key());
        statement.setBytes(++i, record.value());
        statement.setArray(++i, connection.createArrayOf("bytea", names.toArray(new byte[0][])));
        statement.setArray(++i, connection.createArrayOf("bytea", values.toArray(new byte[0][])));
        return i;
    }

    private static int setBackoff(PreparedStatement statement, int before, Backoff backoff) throws SQLException {
        statement.setDouble(before + 1, backoff.max().toMillis() / 1000.0);
        statement.setDouble(before + 2, backoff.initial().toMillis() / 1000.0);
        return before + 2;
    }

    /**
     * Takes the first event that is due.
     *
     * @param from nothing that is due before is looked at
     * @param handlers names of those that the application has
     */
    Optional<Due> takeDue(Connection connection, String group, Instant from, List<String> handlers, Backoff backoff)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(TAKE_DUE.formatted(table.sql()))) {
            int i = setBackoff(statement, 0, backoff);
            statement.setString(++i, group);
            statement.setTimestamp(++i, Timestamp.from(from));
            statement.setArray(++i, connection.createArrayOf("text", handlers.toArray()));
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? Optional.of(new Due(event(row))) : Optional.empty();
            }
        }
    }

    /** Whether the row is still the caller's, and from now on until the end of the transaction nobody else's. */
    boolean lock(Connection connection, Due due) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(LOCK.formatted(table.sql()))) {
            statement.setLong(1, due.number());
            statement.setInt(2, due.attempt());
            try (ResultSet row = statement.executeQuery()) {
                return row.next();
            }
        }
    }

    void remove(Connection connection, long number) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(REMOVE.formatted(table.sql()))) {
            statement.setLong(1, number);
            statement.executeUpdate();
        }
    }

    /** Notes a failure; returns the state that follows, null if the row is somebody else's now. */
    @Nullable State failedAgain(Connection connection, Due due, int most, State afterThat, String error, Backoff backoff)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(FAILED_AGAIN.formatted(table.sql()))) {
            statement.setInt(1, most);
            statement.setString(2, afterThat.text());
            statement.setInt(3, most);
            int i = setBackoff(statement, 3, backoff);
            statement.setString(++i, error);
            statement.setLong(++i, due.number());
            statement.setInt(++i, due.attempt());
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? State.of(row.getString(1)) : null;
            }
        }
    }

    /** The attempt was not the event's fault: it does not count. */
    void giveBack(Connection connection, Due due, Backoff backoff) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(GIVE_BACK.formatted(table.sql()))) {
            int i = setBackoff(statement, 0, backoff);
            statement.setLong(++i, due.number());
            statement.setInt(++i, due.attempt());
            statement.executeUpdate();
        }
    }

    /** Makes the first of the line due, if it waited for somebody who is gone. */
    void promote(Connection connection, Line line) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(PROMOTE.formatted(table.sql()))) {
            statement.setString(1, line.group());
            statement.setString(2, line.handler());
            statement.setString(3, line.topic());
            statement.setBytes(4, line.keyHash());
            statement.executeUpdate();
        }
    }

    /** The same for all lines of the group; and what only seems to be begun is forgotten. */
    void promoteAll(Connection connection, String group) throws SQLException {
        for (String sql : List.of(PROMOTE_ALL, FORGET_BEGUN)) {
            try (PreparedStatement statement = connection.prepareStatement(sql.formatted(table.sql()))) {
                statement.setString(1, group);
                statement.executeUpdate();
            }
        }
    }

    /** The database's clock. */
    Instant now(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("select clock_timestamp()");
                ResultSet row = statement.executeQuery()) {
            row.next();
            return row.getTimestamp(1).toInstant();
        }
    }

    /**
     * How many there are, up to a bound.
     *
     * @param waiting are tried again, or wait behind one that is
     * @param dead are given up
     */
    record Counts(long waiting, long dead) {}

    Counts count(Connection connection, String group) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(COUNT.formatted(table.sql()))) {
            statement.setString(1, group);
            statement.setInt(2, MOST_COUNTED);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return new Counts(row.getLong(1), row.getLong(2));
            }
        }
    }

    /**
     * In the order in which they were parked, without their values, which {@link #find} has.
     *
     * @param group null: of all groups
     * @param after only those with a greater number
     */
    List<ParkedEvent> list(Connection connection, @Nullable String group, long after, int most) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(LIST.formatted(table.sql()))) {
            statement.setLong(1, after);
            statement.setString(2, group);
            statement.setString(3, group);
            statement.setInt(4, most);
            try (ResultSet rows = statement.executeQuery()) {
                List<ParkedEvent> events = new ArrayList<>();
                while (rows.next()) {
                    events.add(event(rows));
                }
                return events;
            }
        }
    }

    Optional<ParkedEvent> find(Connection connection, long number) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(FIND.formatted(table.sql()))) {
            statement.setLong(1, number);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? Optional.of(event(row)) : Optional.empty();
            }
        }
    }

    /** Whether it made a difference. */
    boolean redrive(Connection connection, long number) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(REDRIVE.formatted(table.sql()))) {
            statement.setLong(1, number);
            return statement.executeUpdate() == 1;
        }
    }

    /** What became of a {@link #discard}. */
    record Discarded(boolean isDone, @Nullable Line line) {}

    /** Gives the event up; who waits in its line is to be {@link #promote promoted} after the commit. */
    Discarded discard(Connection connection, long number) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(DISCARD.formatted(inbox.sql(), table.sql()))) {
            statement.setLong(1, number);
            try (ResultSet row = statement.executeQuery()) {
                if (!row.next()) {
                    return new Discarded(false, null);
                }
                String handler = row.getString(2);
                byte[] keyHash = row.getBytes(4);
                return new Discarded(
                        true,
                        handler == null || keyHash == null
                                ? null
                                : new Line(row.getString(1), handler, row.getString(3), keyHash));
            }
        }
    }

    private static ParkedEvent event(ResultSet row) throws SQLException {
        int partition = row.getInt("partition");
        return new ParkedEvent(
                row.getLong("number"),
                row.getString("consumer_group"),
                row.getString("handler"),
                row.getString("event_id"),
                row.getString("event_type"),
                State.of(row.getString("state")),
                row.getString("topic"),
                partition,
                row.getLong("record_offset"),
                instant(row, "record_time"),
                row.getBytes("record_key"),
                row.getBytes("record_value"),
                headers(row),
                row.getInt("attempts"),
                row.getString("error"),
                row.getTimestamp("parked_at").toInstant(),
                instant(row, "failed_at"),
                instant(row, "next_try_at"));
    }

    private static @Nullable Instant instant(ResultSet row, String column) throws SQLException {
        Timestamp time = row.getTimestamp(column);
        return time == null ? null : time.toInstant();
    }

    private static List<ParkedEvent.RawHeader> headers(ResultSet row) throws SQLException {
        byte[][] names = bytes(row.getArray("header_names"));
        byte[][] values = bytes(row.getArray("header_values"));
        List<ParkedEvent.RawHeader> headers = new ArrayList<>(names.length);
        for (int i = 0; i < names.length; i++) {
            headers.add(new ParkedEvent.RawHeader(new String(names[i], StandardCharsets.UTF_8), values[i]));
        }
        return headers;
    }

    private static byte[][] bytes(Array array) throws SQLException {
        return (byte[][]) array.getArray();
    }

    /** @throws SchemaException names what is missing and the remedy */
    void check(Connection connection, String migrateCommand) throws SQLException {
        String[] columns = COLUMNS.replaceAll("\\s", "").split(",");
        try (PreparedStatement statement = connection.prepareStatement(INSPECT)) {
            statement.setArray(1, connection.createArrayOf("text", columns));
            statement.setInt(2, columns.length);
            statement.setString(3, table.sql());
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                String where = "database " + row.getString(5) + ", search_path " + row.getString(6);
                if (!row.getBoolean(1)) {
                    throw new SchemaException(
                            "Table " + table + " does not exist (" + where + "). Create it: " + migrateCommand);
                }
                if (!row.getBoolean(2)) {
                    throw new SchemaException("Table " + table + " (" + where
                            + ") is not a table of parked events of this version: it lacks one of the columns "
                            + String.join(", ", columns) + ". Configure another " + Setting.PARKED_TABLE.key()
                            + ", or bring it up to date: " + migrateCommand);
                }
                if (!row.getBoolean(3)) {
                    throw new SchemaException("User " + row.getString(4) + " may not use table " + table + " (" + where
                            + "): grant select, insert, update, delete on " + table + " to "
                            + SqlIdentifier.quote(row.getString(4)));
                }
            }
        }
    }
}
