package dev.twinbox.proof.matrix;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.fixtures.Ledger;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** The topics of the crash application: the events sent to it and the offsets that it has committed. */
final class CrashTopics {
    private final ProofServers servers;
    private final Producer<byte[], byte[]> producer;
    private final List<String> sentForOneEffect = new ArrayList<>();

    CrashTopics(ProofServers servers) {
        this.servers = servers;
        Stream.of(Handling.values())
                .forEach(handling ->
                        servers.kafka().createTopic(handling.partition().topic(), 1));
        this.producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", servers.kafka().bootstrapServers()),
                new ByteArraySerializer(),
                new ByteArraySerializer());
    }

    /** Checks that each event with an exactly-once handler has one effect. */
    void assertLedger(CrashDatabase database) throws SQLException {
        Ledger ledger = Ledger.create();
        String topic = Handling.ONCE.partition().topic();
        sentForOneEffect.forEach(id -> ledger.committed(topic, "key", id, id.getBytes(UTF_8)));
        try (Connection connection = database.connect()) {
            ledger.published(servers.kafka().readAll(topic))
                    .effects("once", connection, "select event_id from effect where topic = 'crash-once'")
                    .assertExact();
        }
    }

    /** The next event to send. */
    CrashEvent next(Handling handling) {
        return new CrashEvent(handling, UUID.randomUUID().toString(), endOffset(handling));
    }

    /** Sends the event. Returns when Kafka has it at the expected offset. */
    void send(CrashEvent event) {
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(
                event.handling().partition().topic(),
                "key".getBytes(UTF_8),
                event.id().getBytes(UTF_8));
        Headers headers = record.headers();
        headers.add("ce_specversion", "1.0".getBytes(UTF_8));
        headers.add("ce_id", event.id().getBytes(UTF_8));
        headers.add("ce_type", "crash.happened".getBytes(UTF_8));
        headers.add("ce_source", "/proof".getBytes(UTF_8));
        headers.add("content-type", "text/plain".getBytes(UTF_8));
        if (event.handling() == Handling.ONCE) {
            sentForOneEffect.add(event.id());
        }
        assertThat(answer(producer.send(record)).offset()).isEqualTo(event.offset());
    }

    /** Whether the offset after the last record is committed. */
    boolean isOffsetAtEnd(Handling handling) {
        OffsetAndMetadata committed = answer(servers.admin()
                        .listConsumerGroupOffsets(handling.group())
                        .partitionsToOffsetAndMetadata())
                .get(handling.partition());
        return committed != null && committed.offset() == endOffset(handling);
    }

    private long endOffset(Handling handling) {
        return answer(servers.admin()
                        .listOffsets(Map.of(handling.partition(), OffsetSpec.latest()))
                        .partitionResult(handling.partition()))
                .offset();
    }

    private static <T> T answer(Future<T> future) {
        try {
            return future.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }
}
