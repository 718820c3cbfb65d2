package dev.twinbox.proof.servers;

import dev.twinbox.CloudEventHeaders;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/** Sends orders as a relay would. */
final class Orders implements AutoCloseable {

    private final KafkaProducer<byte[], byte[]> producer;

    Orders(String bootstrap) {
        producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", bootstrap, "linger.ms", "60000"),
                new ByteArraySerializer(),
                new ByteArraySerializer());
    }

    /** As one batch, so that the receiver gets them in one poll. */
    void send(String topic, List<String> ids) {
        ids.forEach(id -> add(topic, id, 0, null));
        flush();
    }

    /** @param failures how often its handler throws */
    void add(String topic, String id, int failures, @Nullable String tenant) {
        String json = "{\"id\":\"" + id + "\",\"failures\":" + failures + "}";
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, 0, bytes("key"), bytes(json));
        record.headers()
                .add(CloudEventHeaders.ID, bytes(id))
                .add(CloudEventHeaders.TYPE, bytes("order"))
                .add(CloudEventHeaders.SOURCE, bytes("/tests"));
        if (tenant != null) {
            record.headers().add("tenant", bytes(tenant));
        }
        producer.send(record);
    }

    void flush() {
        producer.flush();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        producer.close();
    }
}
