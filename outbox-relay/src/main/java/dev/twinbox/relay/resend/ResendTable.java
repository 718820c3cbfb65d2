package dev.twinbox.relay.resend;

import dev.twinbox.jdbc.SqlState;
import dev.twinbox.relay.jdbc.Position;
import dev.twinbox.relay.jdbc.SentEvents;
import dev.twinbox.relay.jdbc.Snapshot;
import dev.twinbox.schema.OutboxSchema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The table of jobs. Operators insert and cancel; the owner of the lease does the rest. Tables of an earlier version do not
 * have it. Bound to one connection; not for several threads.
 */
public final class ResendTable {
    private static final String EXISTS = """
            -- relay: can events be sent again
            select to_regclass(?) is not null
            """;

    private static final String COLUMNS = """
            number, state, from_seq, to_seq, from_time, to_time, topic, key, held, sent_from::text, sent_to::text, sent_seq,
            after_seq, epoch, sent, parked, refused, error, requested_at, ended_at""";

    private static final String ACTIVE = """
            -- relay: the job that is not over
            select {columns} from {resend} where relay = ? and state in ('requested', 'running')
            """;

    private static final String LATEST = """
            -- operator: jobs
            select {columns} from {resend} where relay = ? order by number desc limit ?
            """;

    private static final String REMOVE_OLD = """
            -- operator: remove jobs of 30 days ago
            delete from {resend} where relay = ? and ended_at < clock_timestamp() - make_interval(secs => 2592000)
            """;

    private static final String REQUEST = """
            -- operator: request a job
            insert into {resend} (relay, from_seq, to_seq, from_time, to_time, topic, key, held)
            values (?, ?, ?, ?, ?, ?, ?, ?)
            on conflict (relay) where state in ('requested', 'running') do nothing
            returning number
            """;

    private static final String CANCEL = """
            -- operator: cancel a job
            update {resend} set state = 'canceled', ended_at = clock_timestamp()
            where relay = ? and number = ? and state in ('requested', 'running')
            """;

    private static final String BEGIN = """
            -- relay: begin a job
            update {resend} set state = 'running', sent_from = ?::pg_snapshot, sent_to = ?::pg_snapshot, sent_seq = ?,
              after_seq = ?, epoch = ?
            where relay = ? and number = ? and state = 'requested'
            """;

    private static final String ADOPT = """
            -- relay: go on with a job of an earlier owner
            update {resend} set epoch = ? where relay = ? and number = ?
            """;

    private static final String RESTART = """
            -- relay: begin a job anew
            update {resend} set state = 'requested', sent_from = null, sent_to = null, sent_seq = null, after_seq = null
            where relay = ? and number = ? and state = 'running'
            """;

    private static final String SAVE = """
            -- relay: progress of a job
            update {resend} set after_seq = ?, sent = sent + ?, parked = parked + ?, refused = refused + ?,
              error = coalesce(error, ?)
            where relay = ? and number = ? and state = 'running'
            """;

    private static final String END = """
            -- relay: end of a job
            update {resend} set state = ?, error = coalesce(?, error), ended_at = clock_timestamp()
            where relay = ? and number = ? and state in ('requested', 'running')
            """;

    /** A transaction of its own: whoever sees it sees all that had committed before it. */
    private static final String MARK = """
            -- relay: mark a moment
            select pg_current_xact_id()::text
            """;

    private static final String IS_PAST = """
            -- relay: has the position passed a moment
            select pg_visible_in_snapshot(?::xid8, ?::pg_snapshot)
            """;

    private static final String IS_RETRYING = """
            -- relay: are parked events of topics being sent
            select exists (select from {parked} where relay = ? and state = 'sending' and topic = any(?))
            """;

    private final Connection connection;
    private final OutboxSchema schema;
    private final String relay;
    private boolean isThere; // a table that was seen is not looked for again

    public ResendTable(Connection connection, OutboxSchema schema, String relay) {
        this.connection = connection;
        this.schema = schema;
        this.relay = relay;
    }

    /** Whether there is a table: the tables are new enough. */
    public boolean exists() throws SQLException {
        if (!isThere) {
            try (PreparedStatement exists = connection.prepareStatement(EXISTS)) {
                exists.setString(1, schema.resend().sql());
                try (ResultSet row = exists.executeQuery()) {
                    row.next();
                    isThere = row.getBoolean(1);
                }
            }
        }
        return isThere;
    }

    /**
     * The job that is not over; null if there is none. For a role that may not read the table there is none: a relay goes on
     * if the table was created while it ran.
     */
    public @Nullable ResendJob active() throws SQLException {
        if (!exists()) {
            return null;
        }
        try (PreparedStatement select = prepare(ACTIVE)) {
            select.setString(1, relay);
            List<ResendJob> jobs = jobs(select);
            return jobs.isEmpty() ? null : jobs.get(0);
        } catch (SQLException e) {
            if (SqlState.INSUFFICIENT_PRIVILEGE.isOf(e)) {
                return null;
            }
            throw e;
        }
    }

    /** The newest first. */
    public List<ResendJob> latest(int most) throws SQLException {
        if (!exists()) {
            return List.of();
        }
        try (PreparedStatement select = prepare(LATEST)) {
            select.setString(1, relay);
            select.setInt(2, most);
            return jobs(select);
        }
    }

    private static List<ResendJob> jobs(PreparedStatement select) throws SQLException {
        List<ResendJob> jobs = new ArrayList<>();
        try (ResultSet row = select.executeQuery()) {
            while (row.next()) {
                jobs.add(job(row));
            }
        }
        return jobs;
    }

    private static ResendJob job(ResultSet row) throws SQLException {
        String from = row.getString("sent_from");
        String to = row.getString("sent_to");
        return new ResendJob(
                row.getLong("number"),
                ResendJob.State.valueOf(row.getString("state").toUpperCase(Locale.ROOT)),
                new SentEvents.Range(
                        row.getObject("from_seq", Long.class),
                        row.getObject("to_seq", Long.class),
                        instant(row, "from_time"),
                        instant(row, "to_time"),
                        row.getString("topic"),
                        row.getString("key")),
                Set.of((String[]) row.getArray("held").getArray()),
                from == null
                        ? null
                        : new Position(
                                Snapshot.parse(from), to == null ? null : Snapshot.parse(to), row.getLong("sent_seq")),
                row.getLong("after_seq"),
                row.getLong("epoch"),
                new ResendJob.Sent(row.getLong("sent"), row.getLong("parked"), row.getLong("refused")),
                row.getString("error"),
                Objects.requireNonNull(instant(row, "requested_at"), "the column is not null"),
                instant(row, "ended_at"));
    }

    private static @Nullable Instant instant(ResultSet row, String column) throws SQLException {
        OffsetDateTime time = row.getObject(column, OffsetDateTime.class);
        return time == null ? null : time.toInstant();
    }

    /** Requests a job; returns its number, or null if another one is not over. Removes jobs of 30 days ago. */
    public @Nullable Long request(SentEvents.Range range, Collection<String> held) throws SQLException {
        try (PreparedStatement remove = prepare(REMOVE_OLD)) {
            remove.setString(1, relay);
            remove.executeUpdate();
        }
        try (PreparedStatement request = prepare(REQUEST)) {
            request.setString(1, relay);
            request.setObject(2, range.from(), Types.BIGINT);
            request.setObject(3, range.to(), Types.BIGINT);
            request.setObject(4, time(range.fromTime()), Types.TIMESTAMP_WITH_TIMEZONE);
            request.setObject(5, time(range.toTime()), Types.TIMESTAMP_WITH_TIMEZONE);
            request.setString(6, range.topic());
            request.setString(7, range.key());
            request.setArray(8, connection.createArrayOf("text", held.toArray()));
            try (ResultSet row = request.executeQuery()) {
                return row.next() ? row.getLong(1) : null;
            }
        }
    }

    private static @Nullable OffsetDateTime time(@Nullable Instant instant) {
        return instant == null ? null : OffsetDateTime.ofInstant(instant, ZoneOffset.UTC);
    }

    /** Cancels a job; false if there is none of this number, or if it is over. */
    public boolean cancel(long number) throws SQLException {
        try (PreparedStatement cancel = prepare(CANCEL)) {
            return change(cancel, 1, number);
        }
    }

    boolean begin(long number, Position position, long after, long epoch) throws SQLException {
        try (PreparedStatement begin = prepare(BEGIN)) {
            Snapshot to = position.to();
            begin.setObject(1, position.from().text(), Types.OTHER);
            begin.setObject(2, to == null ? null : to.text(), Types.OTHER);
            begin.setObject(3, to == null ? null : position.seq(), Types.BIGINT);
            begin.setLong(4, after);
            begin.setLong(5, epoch);
            return change(begin, 6, number);
        }
    }

    void adopt(long number, long epoch) throws SQLException {
        try (PreparedStatement adopt = prepare(ADOPT)) {
            adopt.setLong(1, epoch);
            change(adopt, 2, number);
        }
    }

    void restart(long number) throws SQLException {
        try (PreparedStatement restart = prepare(RESTART)) {
            change(restart, 1, number);
        }
    }

    /** Saves the progress since the last save; false if the job is over, because it was canceled. */
    boolean save(long number, long after, ResendJob.Sent more, @Nullable String refusal) throws SQLException {
        try (PreparedStatement save = prepare(SAVE)) {
            save.setLong(1, after);
            save.setLong(2, more.sent());
            save.setLong(3, more.parked());
            save.setLong(4, more.refused());
            save.setString(5, refusal);
            return change(save, 6, number);
        }
    }

    /** @param error null: what the row has stays */
    void end(long number, ResendJob.State state, @Nullable String error) throws SQLException {
        try (PreparedStatement end = prepare(END)) {
            end.setString(1, state.name().toLowerCase(Locale.ROOT));
            end.setString(2, error);
            change(end, 3, number);
        }
    }

    private boolean change(PreparedStatement update, int next, long number) throws SQLException {
        update.setString(next, relay);
        update.setLong(next + 1, number);
        return update.executeUpdate() == 1;
    }

    /** A moment to wait for, see {@link #isPast}. */
    String mark() throws SQLException {
        try (PreparedStatement mark = connection.prepareStatement(MARK);
                ResultSet row = mark.executeQuery()) {
            row.next();
            return row.getString(1);
        }
    }

    /** Whether all that had committed at a moment is before this position. */
    boolean isPast(String mark, Position position) throws SQLException {
        try (PreparedStatement past = connection.prepareStatement(IS_PAST)) {
            past.setObject(1, mark, Types.OTHER);
            past.setObject(2, position.from().text(), Types.OTHER);
            try (ResultSet row = past.executeQuery()) {
                row.next();
                return row.getBoolean(1);
            }
        }
    }

    /** Whether parked events of these topics are on their way to Kafka. */
    boolean isRetrying(Collection<String> topics) throws SQLException {
        try (PreparedStatement select = prepare(IS_RETRYING)) {
            select.setString(1, relay);
            select.setArray(2, connection.createArrayOf("text", topics.toArray()));
            try (ResultSet row = select.executeQuery()) {
                row.next();
                return row.getBoolean(1);
            }
        }
    }

    private PreparedStatement prepare(String sql) throws SQLException {
        return connection.prepareStatement(sql.replace("{columns}", COLUMNS)
                .replace("{resend}", schema.resend().sql())
                .replace("{parked}", schema.parked().sql()));
    }
}
