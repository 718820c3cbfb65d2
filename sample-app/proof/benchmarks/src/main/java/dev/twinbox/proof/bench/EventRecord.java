package dev.twinbox.proof.bench;

import dev.twinbox.CloudEventHeaders;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.jspecify.annotations.Nullable;

/**
 * One event as a record on Kafka, as the wire contract says (CloudEvents 1.0, binary mode). What all events have in
 * common exists once, as in the relay.
 */
final class EventRecord {

    private static final Header SPEC_VERSION =
            header(CloudEventHeaders.SPEC_VERSION, utf8(CloudEventHeaders.SPEC_VERSION_1_0));
    private static final Header TYPE = header(CloudEventHeaders.TYPE, utf8(Workload.TYPE));
    private static final Header SOURCE = header(CloudEventHeaders.SOURCE, utf8(Workload.SOURCE));
    private static final Header CONTENT_TYPE = header(CloudEventHeaders.CONTENT_TYPE, utf8(Workload.CONTENT_TYPE));

    private final byte[] key;
    private final byte[] id;
    private final byte[] time;
    private final byte[] payload;

    private EventRecord(byte[] key, byte[] id, byte[] time, byte[] payload) {
        this.key = key;
        this.id = id;
        this.time = time;
        this.payload = payload;
    }

    static EventRecord of(Workload workload, int number) {
        return new EventRecord(
                utf8(workload.key(number)),
                utf8(workload.id(number).toString()),
                utf8(workload.time(number).toString()),
                workload.payload(number));
    }

    /** @param partition null: Kafka selects it by the key */
    ProducerRecord<byte[], byte[]> to(String topic, @Nullable Integer partition) {
        return new ProducerRecord<>(topic, partition, key, payload, headers());
    }

    private List<Header> headers() {
        return List.of(
                SPEC_VERSION,
                header(CloudEventHeaders.ID, id),
                TYPE,
                SOURCE,
                header(CloudEventHeaders.TIME, time),
                CONTENT_TYPE,
                header(CloudEventHeaders.PARTITION_KEY, key));
    }

    /** Whether a record from Kafka is this event, byte by byte. Only the order of the headers may differ. */
    boolean is(ConsumerRecord<byte[], byte[]> found) {
        return Arrays.equals(found.key(), key) && Arrays.equals(found.value(), payload) && hasExactly(found.headers());
    }

    private boolean hasExactly(Headers found) {
        List<Header> expected = headers();
        return found.toArray().length == expected.size()
                && expected.stream().allMatch(header -> {
                    Header same = found.lastHeader(header.key());
                    return same != null && Arrays.equals(same.value(), header.value());
                });
    }

    /** Size of key, value and headers, uncompressed. */
    int bytes() {
        return key.length
                + payload.length
                + headers().stream()
                        .mapToInt(header -> header.key().length() + header.value().length)
                        .sum();
    }

    private static Header header(String name, byte[] value) {
        return new RecordHeader(name, value);
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
