package dev.twinbox.inbox.jdbc;

import dev.twinbox.inbox.jdbc.ReplayJob.Counts;
import dev.twinbox.inbox.jdbc.ReplayJob.Partition;
import dev.twinbox.inbox.jdbc.ReplayJob.State;
import dev.twinbox.jdbc.SqlIdentifier;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The table of jobs that handle events again. An operator requests and cancels, an instance that has the handler carries
 * out. Tables of a version before 11 do not have it.
 *
 * <p>Each method runs in its caller's transaction.
 */
public final class ReplayTable {

    private static final String SUFFIX = "_replay";

    private static final String IS_ACTIVE = "state in ('requested', 'running')";

    private static final String EXISTS = """
            -- inbox: can events be replayed
            select to_regclass(?) is not null""";

    private static final String REQUEST = """
            -- inbox: request a replay
            insert into %s (consumer_group, handler, topic, topic_id, record_key, again, asked_from, asked_to, partitions,
                            from_offsets, to_offsets, next_offsets)
            values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            on conflict do nothing
            returning number""";

    private static final String LIST = """
            -- inbox: list replays
            select %s from %%s j order by j.number desc limit ?""".formatted(ReplayColumns.NAMES);

    private static final String CANCEL = """
            -- inbox: cancel a replay
            update %%s
               set state = 'canceled', ended_at = clock_timestamp(), owner = null, lease_until = null
             where number = ? and %s""".formatted(IS_ACTIVE);

    private static final String REMOVE_OLD = """
            -- inbox: remove old replays
            delete from %1$s j
             where j.ended_at < clock_timestamp() - interval '720 hours'
               and not exists (select from %2$s r where r.job = j.number)""";

    /** A job of another owner, who has not given it back, was left behind by a crash, or by a pause of the process. */
    private static final String TAKE = """
            -- inbox: take a replay
            with due as materialized (
              select number, owner <> ? as is_left
                from %%1$s
               where consumer_group = ? and %s
                 and (topic, handler) in (select * from unnest(?::text[], ?::text[]))
                 and (owner is null or owner = ? or lease_until < clock_timestamp())
               order by number
               limit 1
               for update skip locked)
            update %%1$s j
               set state = 'running', owner = ?, lease_until = clock_timestamp() + make_interval(secs => ?)
              from due
             where j.number = due.number
            returning due.is_left, %s""".formatted(IS_ACTIVE, ReplayColumns.NAMES);

    private static final String OWNED = " where number = ? and owner = ? and state = 'running'";

    private static final String SAVE = """
            -- inbox: save the progress of a replay
            update %s
               set next_offsets = ?, handled = ?, skipped = ?, parked = ?, unreadable = ?, gone = ?,
                   lease_until = clock_timestamp() + make_interval(secs => ?)""" + OWNED;

    private static final String END = """
            -- inbox: end a replay
            update %s
               set state = ?, error = ?, ended_at = clock_timestamp(), owner = null, lease_until = null""" + OWNED;

    private static final String GIVE_BACK = """
            -- inbox: give a replay back
            update %s set owner = null, lease_until = null""" + OWNED;

    private final SqlIdentifier table;
    private final SqlIdentifier replayed;

    /** A table that was seen is not looked for again. */
    private volatile boolean isThere;

    private ReplayTable(SqlIdentifier table, SqlIdentifier replayed) {
        this.table = table;
        this.replayed = replayed;
    }

    /**
     * The table of an inbox table.
     *
     * @throws IllegalArgumentException if the inbox table's name leaves no room for the suffix
     */
    public static ReplayTable of(SqlIdentifier inbox) {
        return new ReplayTable(name(inbox), claims(inbox));
    }

    /**
     * Its name, which follows from that of the inbox table: {@code inbox_replay} for {@code inbox_event}.
     *
     * @throws IllegalArgumentException if the inbox table's name leaves no room for the suffix
     */
    public static SqlIdentifier name(SqlIdentifier inbox) {
        return inbox.sibling(SUFFIX);
    }

    /**
     * The name of the table of the claims of jobs, see {@link ReplayedTable}: {@code inbox_replayed} for {@code
     * inbox_event}.
     *
     * @throws IllegalArgumentException if the inbox table's name leaves no room for the suffix
     */
    static SqlIdentifier claims(SqlIdentifier inbox) {
        return inbox.sibling("_replayed");
    }

    /** Whether events can be replayed: the tables are new enough. */
    public boolean exists(Connection connection) throws SQLException {
        if (!isThere) {
            try (PreparedStatement statement = connection.prepareStatement(EXISTS)) {
                statement.setString(1, table.sql());
                try (ResultSet row = statement.executeQuery()) {
                    row.next();
                    isThere = row.getBoolean(1);
                }
            }
        }
        return isThere;
    }

    /**
     * What an operator asks for. The other parts are as in {@link ReplayJob}.
     *
     * @param partitions not empty
     */
    public record Request(
            String group,
            String handler,
            String topic,
            UUID topicId,
            @Nullable String key,
            boolean isAgain,
            String from,
            String to,
            List<Partition> partitions) {}

    /** Requests a job. Returns its number; empty if one of this handler and topic is not over. */
    public Optional<Long> request(Connection connection, Request job) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(REQUEST.formatted(table.sql()))) {
            statement.setString(1, job.group());
            statement.setString(2, job.handler());
            statement.setString(3, job.topic());
            statement.setObject(4, job.topicId());
            statement.setString(5, job.key());
            statement.setBoolean(6, job.isAgain());
            statement.setString(7, job.from());
            statement.setString(8, job.to());
            statement.setArray(
                    9,
                    connection.createArrayOf(
                            "integer",
                            job.partitions().stream().map(Partition::number).toArray(Integer[]::new)));
            statement.setArray(10, ReplayColumns.offsets(connection, job.partitions(), Partition::from));
            statement.setArray(11, ReplayColumns.offsets(connection, job.partitions(), Partition::to));
            statement.setArray(12, ReplayColumns.offsets(connection, job.partitions(), Partition::next));
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? Optional.of(row.getLong(1)) : Optional.empty();
            }
        }
    }

    /** The latest jobs of all groups, the newest first. */
    public List<ReplayJob> latest(Connection connection, int most) throws SQLException {
        List<ReplayJob> jobs = new ArrayList<>();
        if (!exists(connection)) {
            return jobs;
        }
        try (PreparedStatement statement = connection.prepareStatement(LIST.formatted(table.sql()))) {
            statement.setInt(1, most);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    jobs.add(ReplayColumns.read(row));
                }
            }
        }
        return jobs;
    }

    /** Cancels a job. From the commit on it begins no further effect. Returns false if it is over, or there is none. */
    public boolean cancel(Connection connection, long number) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(CANCEL.formatted(table.sql()))) {
            statement.setLong(1, number);
            return statement.executeUpdate() == 1;
        }
    }

    /** Removes jobs that have been over for 720 hours. */
    public void removeOld(Connection connection) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement(REMOVE_OLD.formatted(table.sql(), replayed.sql()))) {
            statement.executeUpdate();
        }
    }

    /**
     * A job that an instance has taken.
     *
     * @param isLeft whether its owner went away without giving it back
     */
    public record Taken(ReplayJob job, boolean isLeft) {}

    /**
     * Takes a job that nobody has.
     *
     * @param topics one for each handler
     * @param handlers whose jobs this instance can do
     */
    public Optional<Taken> take(
            Connection connection,
            String group,
            Collection<String> topics,
            Collection<String> handlers,
            UUID owner,
            Duration lease)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(TAKE.formatted(table.sql()))) {
            statement.setObject(1, owner);
            statement.setString(2, group);
            statement.setArray(3, connection.createArrayOf("text", topics.toArray()));
            statement.setArray(4, connection.createArrayOf("text", handlers.toArray()));
            statement.setObject(5, owner);
            statement.setObject(6, owner);
            statement.setDouble(7, lease.toMillis() / 1000.0);
            try (ResultSet row = statement.executeQuery()) {
                return row.next()
                        ? Optional.of(new Taken(ReplayColumns.read(row), row.getBoolean("is_left")))
                        : Optional.empty();
            }
        }
    }

    /** Saves the progress and renews the lease. Returns false if the job is over, or another instance has it. */
    public boolean save(
            Connection connection, long job, UUID owner, List<Partition> partitions, Counts counts, Duration lease)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(SAVE.formatted(table.sql()))) {
            statement.setArray(1, ReplayColumns.offsets(connection, partitions, Partition::next));
            statement.setLong(2, counts.handled());
            statement.setLong(3, counts.skipped());
            statement.setLong(4, counts.parked());
            statement.setLong(5, counts.unreadable());
            statement.setLong(6, counts.gone());
            statement.setDouble(7, lease.toMillis() / 1000.0);
            statement.setLong(8, job);
            statement.setObject(9, owner);
            return statement.executeUpdate() == 1;
        }
    }

    /** Ends a job. Returns false if it is over, or another instance has it. */
    public boolean end(Connection connection, long job, UUID owner, State state, @Nullable String error)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(END.formatted(table.sql()))) {
            statement.setString(1, state.text());
            statement.setString(2, error);
            statement.setLong(3, job);
            statement.setObject(4, owner);
            return statement.executeUpdate() == 1;
        }
    }

    /** Gives a job back, so that another instance can go on at once. */
    public void giveBack(Connection connection, long job, UUID owner) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(GIVE_BACK.formatted(table.sql()))) {
            statement.setLong(1, job);
            statement.setObject(2, owner);
            statement.executeUpdate();
        }
    }
}
