package dev.twinbox.relay.jdbc;

import dev.twinbox.schema.OutboxSchema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.util.Objects;
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
            select number, window_from::text, window_to::text, seq, slot{floors}
            from {position} where relay = ? order by number desc limit 1
            """;

    /**
     * The {@code for share} prevents other processes from taking the lease between this check and the commit. The
     * position comes from a snapshot in memory, so PostgreSQL must not have crashed since it was read.
     */
    private static final String SAVE = """
            -- relay: save position
            insert into {position} (slot, relay, number, epoch, window_from, window_to, seq{floors})
            select ?, relay, ?, epoch, ?::pg_snapshot, ?::pg_snapshot, ?{values}
            from {lease} where relay = ? and owner = ? and epoch = ? and {mark} = ? for share
            """;

    private static final String LOAD_PREPARED = """
            -- relay: load position and the next one
            select number, window_from::text, window_to::text, seq, slot, committed,
              next_from::text, next_to::text, next_seq{floors}
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
              (slot, relay, number, epoch, window_from, window_to, seq, committed, next_from, next_to, next_seq{floors})
            select ?, relay, ?, epoch, ?::pg_snapshot, ?::pg_snapshot, ?, ?, ?::pg_snapshot, ?::pg_snapshot, ?{values}
            from {lease} where relay = ? and owner = ? and epoch = ? and {mark} = ? for share
            """;

    /** The schema version that added the floors of snapshots. Positions of older tables have none. */
    static final int FLOORS_SINCE = 6;

    private static final String FLOORS = ", from_floor, to_floor";

    private static final String NEXT_FLOORS = ", next_from_floor, next_to_floor";

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
    private @Nullable PreparedStatement save;
    private @Nullable Boolean hasFloors;
    private int slot;

    public PositionTable(Connection connection, OutboxSchema schema, String relay) throws SQLException {
        this.connection = connection;
        this.schema = schema;
        this.relay = relay;
        this.process = ServerProcess.mark(connection);
    }

    /** The newest position; {@link Position#START} before the first save. */
    public Saved load() throws SQLException {
        try (PreparedStatement load = connection.prepareStatement(sql(LOAD, FLOORS))) {
            load.setString(1, relay);
            try (ResultSet row = load.executeQuery()) {
                if (!row.next()) {
                    return Saved.NOTHING;
                }
                slot = row.getInt("slot");
                return new Saved(row.getLong("number"), position(row));
            }
        }
    }

    /** The newest row as a whole; {@link Prepared#NOTHING} before the first save. */
    public Prepared loadPrepared() throws SQLException {
        try (PreparedStatement load = connection.prepareStatement(sql(LOAD_PREPARED, FLOORS + NEXT_FLOORS))) {
            load.setString(1, relay);
            try (ResultSet row = load.executeQuery()) {
                if (!row.next()) {
                    return Prepared.NOTHING;
                }
                slot = row.getInt("slot");
                Snapshot nextFrom = snapshot(row, "next_from", "next_from_floor");
                Position next = nextFrom == null
                        ? null
                        : new Position(nextFrom, snapshot(row, "next_to", "next_to_floor"), row.getLong("next_seq"));
                return new Prepared(row.getLong("number"), position(row), nullableLong(row, "committed"), next);
            }
        }
    }

    private Position position(ResultSet row) throws SQLException {
        Snapshot from = Objects.requireNonNull(snapshot(row, "window_from", "from_floor"), "the column is not null");
        return new Position(from, snapshot(row, "window_to", "to_floor"), row.getLong("seq"));
    }

    private @Nullable Snapshot snapshot(ResultSet row, String column, String floor) throws SQLException {
        Snapshot snapshot = Snapshot.parseNullable(row.getString(column));
        return snapshot == null || !hasFloors() ? snapshot : snapshot.above(nullableLong(row, floor));
    }

    private static @Nullable Long nullableLong(ResultSet row, String column) throws SQLException {
        long value = row.getLong(column);
        return row.wasNull() ? null : value;
    }

    private boolean hasFloors() throws SQLException {
        Boolean known = hasFloors;
        if (known == null) {
            known = schema.version(connection) >= FLOORS_SINCE;
            hasFloors = known;
        }
        return known;
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
        PreparedStatement prepared = save;
        if (prepared == null) {
            prepared = connection.prepareStatement(sql(SAVE, FLOORS));
            save = prepared;
        }
        prepared.setInt(1, slot);
        prepared.setLong(2, next.number());
        bind(prepared, 3, next.position());
        int last = bindFloors(prepared, 6, next.position());
        return insert(prepared, last, owner, epoch);
    }

    /** As {@link #save}, together with the next position. */
    public boolean prepare(Prepared row, UUID owner, long epoch) throws SQLException {
        try (PreparedStatement prepare = connection.prepareStatement(sql(PREPARE, FLOORS + NEXT_FLOORS))) {
            prepare.setInt(1, slot);
            prepare.setLong(2, row.number());
            bind(prepare, 3, row.position());
            prepare.setObject(6, row.committed(), Types.BIGINT);
            bind(prepare, 7, row.next());
            int last = bindFloors(prepare, bindFloors(prepare, 10, row.position()), row.next());
            return insert(prepare, last, owner, epoch);
        }
    }

    private boolean insert(PreparedStatement statement, int first, UUID owner, long epoch) throws SQLException {
        statement.setString(first, relay);
        statement.setObject(first + 1, owner);
        statement.setLong(first + 2, epoch);
        statement.setString(first + 3, process.mark());
        boolean done = statement.executeUpdate() == 1;
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

    /** Returns the next free index. */
    private int bindFloors(PreparedStatement statement, int first, @Nullable Position position) throws SQLException {
        if (!hasFloors()) {
            return first;
        }
        Snapshot to = position == null ? null : position.to();
        statement.setObject(first, position == null ? null : position.from().floor(), Types.BIGINT);
        statement.setObject(first + 1, to == null ? null : to.floor(), Types.BIGINT);
        return first + 2;
    }

    private static @Nullable String text(@Nullable Snapshot snapshot) {
        return snapshot == null ? null : snapshot.text();
    }

    private String sql(String statement, String floors) throws SQLException {
        String columns = hasFloors() ? floors : "";
        return sql(statement).replace("{floors}", columns).replace("{values}", columns.replaceAll("[a-z_]+", "?"));
    }

    private String sql(String statement) {
        return statement
                .replace("{mark}", ServerProcess.MARK)
                .replace("{position}", schema.position().sql())
                .replace("{lease}", schema.lease().sql());
    }
}
