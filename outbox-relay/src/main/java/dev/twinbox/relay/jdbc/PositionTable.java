package dev.twinbox.relay.jdbc;

import dev.twinbox.schema.OutboxSchema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The saved positions of all relays. Positions are appended, and the newest counts. An updated row would get slower
 * with each save while something holds back vacuum. Bound to one connection in auto-commit mode; not for several
 * threads.
 */
public final class PositionTable {
    private static final String LOAD = """
            -- relay: load position
            select number, window_from::text, window_to::text, seq, slot
            from {position} where relay = ? order by number desc limit 1
            """;

    /**
     * The {@code for share} prevents other processes from taking the lease between this check and the commit. The
     * position comes from a snapshot in memory, so PostgreSQL must not have crashed since it was read.
     */
    private static final String SAVE = """
            -- relay: save position
            insert into {position} (slot, relay, number, epoch, window_from, window_to, seq)
            select ?, relay, ?, epoch, ?::pg_snapshot, ?::pg_snapshot, ?
            from {lease} where relay = ? and owner = ? and epoch = ? and {mark} = ? for share
            """;

    private static final String LOAD_PREPARED = """
            -- relay: load position and the next one
            select number, window_from::text, window_to::text, seq, slot, committed,
              next_from::text, next_to::text, next_seq
            from {position} where relay = ? order by number desc limit 1
            """;

    private static final String SINCE_LAST_SAVE = """
            -- relay: age of the last save
            select extract(epoch from clock_timestamp() - saved_at)::float8
            from {position} where relay = ? order by number desc limit 1
            """;

    private static final String PREPARE = """
            -- relay: prepare position
            insert into {position}
              (slot, relay, number, epoch, window_from, window_to, seq, committed, next_from, next_to, next_seq)
            select ?, relay, ?, epoch, ?::pg_snapshot, ?::pg_snapshot, ?, ?, ?::pg_snapshot, ?::pg_snapshot, ?
            from {lease} where relay = ? and owner = ? and epoch = ? and {mark} = ? for share
            """;

    /**
     * A saved position.
     *
     * @param number counts the saves of a relay; 0 before the first
     */
    public record Saved(long number, Position position) {
        public static final Saved NOTHING = new Saved(0, Position.START);
    }

    /**
     * A position, and the next one, which replaces it if Kafka has committed this row's number.
     *
     * @param number counts the saves of a relay; 0 before the first
     * @param committed the number that Kafka has if {@code position} counts; null: Kafka was not used yet
     * @param next null: {@code position} counts
     */
    public record Prepared(
            long number,
            Position position,
            @Nullable Long committed,
            @Nullable Position next) {
        public static final Prepared NOTHING = new Prepared(0, Position.START, null, null);
    }

    private final Connection connection;
    private final OutboxSchema schema;
    private final String relay;
    private final ServerProcess process;
    private final PreparedStatement save;
    private int slot;

    public PositionTable(Connection connection, OutboxSchema schema, String relay) throws SQLException {
        this.connection = connection;
        this.schema = schema;
        this.relay = relay;
        this.process = ServerProcess.mark(connection);
        this.save = connection.prepareStatement(sql(SAVE));
    }

    /** The newest position; {@link Position#START} before the first save. */
    public Saved load() throws SQLException {
        try (PreparedStatement load = connection.prepareStatement(sql(LOAD))) {
            load.setString(1, relay);
            try (ResultSet row = load.executeQuery()) {
                if (!row.next()) {
                    return Saved.NOTHING;
                }
                Snapshot to = Snapshot.parseNullable(row.getString("window_to"));
                slot = row.getInt("slot");
                return new Saved(
                        row.getLong("number"),
                        new Position(Snapshot.parse(row.getString("window_from")), to, row.getLong("seq")));
            }
        }
    }

    /** The newest row as a whole; {@link Prepared#NOTHING} before the first save. */
    public Prepared loadPrepared() throws SQLException {
        try (PreparedStatement load = connection.prepareStatement(sql(LOAD_PREPARED))) {
            load.setString(1, relay);
            try (ResultSet row = load.executeQuery()) {
                if (!row.next()) {
                    return Prepared.NOTHING;
                }
                slot = row.getInt("slot");
                long committed = row.getLong("committed");
                Long known = row.wasNull() ? null : committed;
                Snapshot nextFrom = Snapshot.parseNullable(row.getString("next_from"));
                return new Prepared(
                        row.getLong("number"),
                        new Position(
                                Snapshot.parse(row.getString("window_from")),
                                Snapshot.parseNullable(row.getString("window_to")),
                                row.getLong("seq")),
                        known,
                        nextFrom == null
                                ? null
                                : new Position(
                                        nextFrom,
                                        Snapshot.parseNullable(row.getString("next_to")),
                                        row.getLong("next_seq")));
            }
        }
    }

    /** Age of the last save by the database's clock; null before the first. */
    public @Nullable Duration sinceLastSave() throws SQLException {
        try (PreparedStatement age = connection.prepareStatement(sql(SINCE_LAST_SAVE))) {
            age.setString(1, relay);
            try (ResultSet row = age.executeQuery()) {
                return row.next() ? Duration.ofMillis((long) (row.getDouble(1) * 1_000)) : null;
            }
        }
    }

    /** The slot that positions are appended to; at first that of the newest position. */
    public int slot() {
        return slot;
    }

    public void writeTo(int newSlot) {
        slot = newSlot;
    }

    /**
     * Appends a position if this owner still has the lease under this epoch.
     *
     * @return false if it has not; then nothing was saved
     */
    public boolean save(Saved next, UUID owner, long epoch) throws SQLException {
        Position position = next.position();
        save.setInt(1, slot);
        save.setLong(2, next.number());
        save.setObject(3, position.from().text(), Types.OTHER);
        save.setObject(4, text(position.to()), Types.OTHER);
        if (position.to() == null) {
            save.setNull(5, Types.BIGINT);
        } else {
            save.setLong(5, position.seq());
        }
        save.setString(6, relay);
        save.setObject(7, owner);
        save.setLong(8, epoch);
        save.setString(9, process.mark());
        return isDone(save);
    }

    /** As {@link #save}, together with the next position. */
    public boolean prepare(Prepared row, UUID owner, long epoch) throws SQLException {
        try (PreparedStatement prepare = connection.prepareStatement(sql(PREPARE))) {
            prepare.setInt(1, slot);
            prepare.setLong(2, row.number());
            bind(prepare, 3, row.position());
            prepare.setObject(6, row.committed(), Types.BIGINT);
            bind(prepare, 7, row.next());
            prepare.setString(10, relay);
            prepare.setObject(11, owner);
            prepare.setLong(12, epoch);
            prepare.setString(13, process.mark());
            return isDone(prepare);
        }
    }

    private boolean isDone(PreparedStatement append) throws SQLException {
        boolean done = append.executeUpdate() == 1;
        if (!done) {
            process.check(connection);
        }
        return done;
    }

    private static void bind(PreparedStatement statement, int first, @Nullable Position position) throws SQLException {
        Snapshot from = position == null ? null : position.from();
        Snapshot to = position == null ? null : position.to();
        Long seq = position == null || to == null ? null : position.seq();
        statement.setObject(first, text(from), Types.OTHER);
        statement.setObject(first + 1, text(to), Types.OTHER);
        statement.setObject(first + 2, seq, Types.BIGINT);
    }

    private static @Nullable String text(@Nullable Snapshot snapshot) {
        return snapshot == null ? null : snapshot.text();
    }

    private String sql(String statement) {
        return statement
                .replace("{mark}", ServerProcess.MARK)
                .replace("{position}", schema.position().sql())
                .replace("{lease}", schema.lease().sql());
    }
}
