package dev.twinbox.proof.bench;

import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.UUID;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * Many small events that PostgreSQL generates itself: ten million of them in minutes.
 *
 * @param events how many; their numbers are 0 to {@code events - 1}
 */
record BulkEvents(int events) implements ExpectedEvents {

    private static final int KEYS = 10_000;
    private static final int ROWS_PER_TRANSACTION = 10_000;
    private static final UUID FIRST = new UUID(0x0000_0000_0000_7000L, 0x8000_0000_0000_0000L);

    /** Many transactions, as a real history has them. No application has a window of one huge transaction. */
    private static final String LOAD = """
            -- bench: load in bulk
            do $$
            declare first bigint := 0;
            begin
              set synchronous_commit = off;
              while first < %1$d loop
                insert into outbox_event (id, topic, key, type, source, occurred_at, content_type, payload)
                select ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, '%2$s', 'customer-' || n %% %3$d,
                  'order.placed', '/bench', now(), 'application/json', convert_to('{"n":' || n || ',"note":"' || repeat(md5(n::text), 3) || '"}', 'UTF8')
                from generate_series(first, least(first + %4$d, %1$d) - 1) n;
                commit;
                first := first + %4$d;
              end loop;
            end $$""";

    /** Commits all events in the order of their numbers. */
    void load(BenchServers servers, String topic) throws SQLException {
        servers.execute(LOAD.formatted(events, topic, KEYS, ROWS_PER_TRANSACTION));
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
        long number = id.getLeastSignificantBits() - FIRST.getLeastSignificantBits();
        boolean ours = id.getMostSignificantBits() == FIRST.getMostSignificantBits() && number >= 0 && number < events;
        return ours ? (int) number : -1;
    }

    /** Compares the key, and the number in the payload. */
    @Override
    public boolean is(int number, ConsumerRecord<byte[], byte[]> found) {
        return text(found.key()).equals("customer-" + customer(number))
                && text(found.value()).startsWith("{\"n\":" + number + ",");
    }

    private static String text(byte[] utf8) {
        return new String(utf8, StandardCharsets.UTF_8);
    }
}
