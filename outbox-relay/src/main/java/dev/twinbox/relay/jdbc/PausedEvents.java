package dev.twinbox.relay.jdbc;

import dev.twinbox.schema.OutboxSchema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;

/** The parked events of paused topics. Bound to one connection; not for several threads. */
public final class PausedEvents {
    /** Reads all parked events of the relay, so it runs when a pause begins, and while the limit is reached. */
    static final String COUNT = """
            -- relay: how much is set aside for paused topics
            select count(*), coalesce(sum(bytes), 0)::bigint from (
              select {bytes} as bytes from {parked} where relay = ? and topic = any(?) limit ?) counted
            """.replace("{bytes}", RowSize.OF_PARKED);

    /**
     * Events that would be sent wait for the end of the pause. They were given back by an operator, or an earlier event of
     * their key was removed. Only the first row of a key waits; the others follow it.
     */
    static final String SET_ASIDE =
            """
            -- relay: events of paused topics wait
            update {parked} set state = 'waiting', partition = {for_resume}, error = format(?, topic)
            where relay = ? and state = 'ready' and number = any (array(
              select number from {parked} p where relay = ? and state = 'ready' and topic = any(?) and {head}
              order by number limit ?))
            """.replace("{head}", ParkedQueue.IS_HEAD).replace("{for_resume}", Integer.toString(ParkReason.PAUSED));

    /**
     * What events take.
     *
     * @param bytes of payloads, keys and headers, and a fixed number for each event
     */
    public record Size(long rows, long bytes) {
        public static final Size NOTHING = new Size(0, 0);

        private static final long FIXED_BYTES = 500;

        /** Of one event, as the table counts it. */
        public static Size of(OutboxRecord event) {
            byte[] payload = event.record().value();
            byte[] key = event.record().key();
            long bytes = FIXED_BYTES
                    + event.unreadBytes()
                    + (payload == null ? 0 : payload.length)
                    + (key == null ? 0 : key.length);
            for (var header : event.record().headers()) {
                bytes += header.key().length() + (header.value() == null ? 0 : header.value().length);
            }
            return new Size(1, bytes);
        }

        public Size plus(Size other) {
            return new Size(rows + other.rows, bytes + other.bytes);
        }

        public Size minus(Size other) {
            return new Size(rows - other.rows, bytes - other.bytes);
        }
    }

    private final ParkedTable table;
    private final String relay;

    public PausedEvents(Connection connection, OutboxSchema schema, String relay) {
        this.table = new ParkedTable(connection, schema, relay);
        this.relay = relay;
    }

    /** What is parked of these topics, for any reason: all of it, or this number of rows and more. */
    public Size count(Collection<String> topics, long mostRows) throws SQLException {
        try (PreparedStatement count = table.prepare(COUNT)) {
            count.setString(1, relay);
            count.setArray(2, table.texts(topics.stream().toList()));
            count.setLong(3, mostRows);
            try (ResultSet row = count.executeQuery()) {
                row.next();
                return new Size(row.getLong(1), row.getLong(2));
            }
        }
    }

    /** Sets events aside that are ready, up to a batch of them; returns how many. Must hold the lease. */
    public int setAside(Collection<String> topics) throws SQLException {
        try (PreparedStatement update = table.prepare(SET_ASIDE)) {
            update.setString(1, ParkReason.pausedTopic("%1$s").error());
            update.setString(2, relay);
            update.setString(3, relay);
            update.setArray(4, table.texts(topics.stream().toList()));
            update.setInt(5, ParkedQueue.BATCH);
            return update.executeUpdate();
        }
    }
}
