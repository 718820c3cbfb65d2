package dev.twinbox.proof.bench;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.UUID;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * A few large events of random bytes, which no compression makes smaller.
 *
 * @param events how many; their numbers are 0 to {@code events - 1}
 */
record LargeEvents(int events) implements ExpectedEvents {

    static final int PAYLOAD_BYTES = 8 << 20;

    private static final int KEYS = 7;
    private static final long ID_HIGH = 0x0000_0000_0000_7001L;

    private static final String INSERT = """
            -- bench: load large events
            insert into outbox_event (id, topic, key, type, source, occurred_at, content_type, payload)
            values (?, ?, ?, 'scan.stored', '/bench', ?, 'application/octet-stream', ?)""";

    /** Commits the events one after the other. */
    void load(Connection connection, String topic) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement(INSERT)) {
            for (int number = 0; number < events; number++) {
                insert.setObject(1, new UUID(ID_HIGH, Long.MIN_VALUE | number));
                insert.setString(2, topic);
                insert.setString(3, key(number));
                insert.setObject(4, Instant.EPOCH.atOffset(ZoneOffset.UTC));
                insert.setBytes(5, payload(number));
                insert.executeUpdate();
            }
        }
    }

    private static String key(int number) {
        return "scanner-" + number % KEYS;
    }

    private static byte[] payload(int number) {
        byte[] bytes = new byte[PAYLOAD_BYTES];
        new SplittableRandom(number).nextBytes(bytes);
        return bytes;
    }

    @Override
    public int keys() {
        return KEYS;
    }

    @Override
    public int customer(int number) {
        return number % KEYS;
    }

    @Override
    public int numberOf(UUID id) {
        long number = id.getLeastSignificantBits() & Long.MAX_VALUE;
        return id.getMostSignificantBits() == ID_HIGH && number < events ? (int) number : -1;
    }

    /** Compares byte by byte. */
    @Override
    public boolean is(int number, ConsumerRecord<byte[], byte[]> found) {
        return Arrays.equals(found.value(), payload(number));
    }
}
