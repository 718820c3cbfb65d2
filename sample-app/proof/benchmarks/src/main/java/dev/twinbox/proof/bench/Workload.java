package dev.twinbox.proof.bench;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.SplittableRandom;
import java.util.UUID;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * The events of a benchmark. Each event is a function of its number. So loading, sending and checking agree without a
 * file.
 *
 * @param events how many there are; their numbers are 0 to {@code events - 1}
 * @param keys how many different record keys there are, spread evenly and at random
 * @param firstOrder order id of event 0; runs on one database use ranges that do not overlap
 */
record Workload(int events, int keys, long firstOrder) implements ExpectedEvents {

    static final String TYPE = "order.placed";
    static final String SOURCE = "/bench";
    static final String CONTENT_TYPE = "application/json";

    /** Payload size in bytes, exactly. */
    static final int PAYLOAD_BYTES = 500;

    private static final long EPOCH_MILLIS = 1_790_000_000_000L;
    // Never whole milliseconds: then Instant prints six digits, and all events have the same size.
    private static final long MICROS_PAST_THE_MILLISECOND = 457;
    private static final int EVENTS_PER_MILLISECOND = 8;
    // Six bits per character: lz4 saves little, as with compressed or encrypted text.
    private static final byte[] FILLER =
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".getBytes(StandardCharsets.US_ASCII);

    Workload {
        if (events < 1 || keys < 1) {
            throw new IllegalArgumentException("a workload needs events and keys, got " + events + " and " + keys);
        }
    }

    /** A UUID of version 7 whose time rises with the order id, {@value #EVENTS_PER_MILLISECOND} per millisecond. */
    UUID id(int number) {
        long order = orderId(number);
        long millis = EPOCH_MILLIS + order / EVENTS_PER_MILLISECOND;
        long within = order % EVENTS_PER_MILLISECOND;
        long high = millis << 16 | 0x7000 | within << 9 | mix(order) >>> 55;
        long low = mix(~order) >>> 2 | 0x8000_0000_0000_0000L;
        return new UUID(high, low);
    }

    @Override
    public int numberOf(UUID id) {
        long millis = id.getMostSignificantBits() >>> 16;
        long within = id.getMostSignificantBits() >>> 9 & (EVENTS_PER_MILLISECOND - 1);
        long number = (millis - EPOCH_MILLIS) * EVENTS_PER_MILLISECOND + within - firstOrder;
        return number >= 0 && number < events && id((int) number).equals(id) ? (int) number : -1;
    }

    long orderId(int number) {
        return firstOrder + number;
    }

    @Override
    public int customer(int number) {
        return (int) Long.remainderUnsigned(mix(orderId(number)), keys);
    }

    String key(int number) {
        return "customer-" + customer(number);
    }

    Instant time(int number) {
        return Instant.ofEpochMilli(EPOCH_MILLIS + orderId(number) / EVENTS_PER_MILLISECOND)
                .plusNanos(MICROS_PAST_THE_MILLISECOND * 1_000);
    }

    byte[] payload(int number) {
        String start = "{\"orderId\":" + orderId(number) + ",\"customerId\":" + customer(number) + ",\"total\":"
                + (number % 9_000 + 1_000) / 100.0 + ",\"note\":\"";
        byte[] json = new byte[PAYLOAD_BYTES];
        byte[] head = start.getBytes(StandardCharsets.US_ASCII);
        System.arraycopy(head, 0, json, 0, head.length);
        fill(json, head.length, PAYLOAD_BYTES - 2, new SplittableRandom(orderId(number)));
        json[PAYLOAD_BYTES - 2] = '"';
        json[PAYLOAD_BYTES - 1] = '}';
        return json;
    }

    /** Compares byte by byte. */
    @Override
    public boolean is(int number, ConsumerRecord<byte[], byte[]> found) {
        return EventRecord.of(this, number).is(found);
    }

    private static void fill(byte[] target, int from, int to, SplittableRandom random) {
        long bits = 0;
        for (int i = from; i < to; i++) {
            if ((i - from) % 10 == 0) {
                bits = random.nextLong();
            }
            target[i] = FILLER[(int) (bits & 63)];
            bits >>>= 6;
        }
    }

    /** The finalizer of SplitMix64: it spreads neighbouring numbers. */
    private static long mix(long value) {
        long z = value + 0x9e37_79b9_7f4a_7c15L;
        z = (z ^ z >>> 30) * 0xbf58_476d_1ce4_e5b9L;
        z = (z ^ z >>> 27) * 0x94d0_49bb_1331_11ebL;
        return z ^ z >>> 31;
    }
}
