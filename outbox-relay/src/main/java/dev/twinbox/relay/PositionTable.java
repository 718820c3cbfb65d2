package dev.twinbox.relay;

import dev.twinbox.schema.OutboxSchema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * How far each relay is. Positions are appended and the newest counts: a row that is updated gets slower with each save while
 * anything holds back vacuum. Bound to one connection in auto-commit mode; not for several threads.
 */
final class PositionTable {
    private static final String LOAD = """
            -- relay: load position
            select number, window_from::text, window_to::text, seq, slot
            from {position} where relay = ? order by number desc limit 1
            """;

    /** {@code for share} keeps anybody from taking the lease between this check and the commit. */
    private static final String SAVE = """
            -- relay: save position
            insert into {position} (slot, relay, number, epoch, window_from, window_to, seq)
            select ?, relay, ?, epoch, ?::pg_snapshot, ?::pg_snapshot, ?
            from {lease} where relay = ? and owner = ? and epoch = ? for share
            """;

    /** @param number counts the saves of a relay; 0 before the first */
    record Saved(long number, Position position) {
        static final Saved NOTHING = new Saved(0, Position.START);
    }

    private final Connection connection;
    private final OutboxSchema schema;
    private final String relay;
    private final PreparedStatement save;
    private int slot;

    PositionTable(Connection connection, OutboxSchema schema, String relay) throws SQLException {
        this.connection = connection;
        this.schema = schema;
        this.relay = relay;
        this.save = connection.prepareStatement(sql(SAVE));
    }

    /** The newest position, {@link Position#START} before the first. */
    Saved load() throws SQLException {
        try (PreparedStatement load = connection.prepareStatement(sql(LOAD))) {
            load.setString(1, relay);
            try (ResultSet row = load.executeQuery()) {
                if (!row.next()) {
                    return Saved.NOTHING;
                }
                Snapshot to = Snapshot.parseNullable(row.getString(3));
                slot = row.getInt(5);
                return new Saved(row.getLong(1), new Position(Snapshot.parse(row.getString(2)), to, row.getLong(4)));
            }
        }
    }

    /** The slot into which positions are appended; at first that of the newest one. */
    int slot() {
        return slot;
    }

    void writeTo(int newSlot) {
        slot = newSlot;
    }

    /**
     * Appends a position if the lease is still this owner's under this epoch.
     *
     * @return false: it is not, and nothing was saved
     */
    boolean save(Saved next, UUID owner, long epoch) throws SQLException {
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
        return save.executeUpdate() == 1;
    }

    private static @Nullable String text(@Nullable Snapshot snapshot) {
        return snapshot == null ? null : snapshot.text();
    }

    private String sql(String statement) {
        return statement
                .replace("{position}", schema.position().sql())
                .replace("{lease}", schema.lease().sql());
    }
}
