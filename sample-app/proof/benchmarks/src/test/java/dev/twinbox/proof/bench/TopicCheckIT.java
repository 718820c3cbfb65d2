package dev.twinbox.proof.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.twinbox.fixtures.KafkaBroker;
import java.time.Duration;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The check of the records: without it a benchmark could report a figure of a wrong run. */
@Tag("proof")
class TopicCheckIT {

    private static final KafkaBroker KAFKA = KafkaBroker.create();

    private final Deadline deadline = new Deadline(Duration.ofMinutes(2));
    /** One key: any other order of records is wrong. */
    private final Workload workload = new Workload(4, 1, 0);

    @BeforeAll
    static void startKafka() {
        KAFKA.start();
    }

    @AfterAll
    static void stopKafka() {
        KAFKA.close();
    }

    @Test
    void theWholeWorkloadInOrderIsAccepted() {
        assertThat(check("exact", 0, 1, 2, 3)).isBetween(Duration.ZERO, Duration.ofMinutes(1));
    }

    @Test
    void aMissingEventIsFound() {
        assertThatThrownBy(() -> check("lost", 0, 1, 3)).hasMessageContaining("1 lost, 0 repeated, 0 out of order");
    }

    @Test
    void aRepeatedEventIsFound() {
        assertThatThrownBy(() -> check("repeated", 0, 1, 2, 2, 3))
                .hasMessageContaining("0 lost, 1 repeated, 0 out of order");
    }

    @Test
    void anOvertakenEventIsFound() {
        assertThatThrownBy(() -> check("reordered", 0, 2, 1, 3))
                .hasMessageContaining("0 lost, 0 repeated, 1 out of order");
    }

    @Test
    void anEventOfAnotherWorkloadIsFound() {
        assertThatThrownBy(() -> check("foreign", new Workload(5, 1, 0), 0, 1, 2, 3, 4))
                .hasMessageContaining("an id that was never loaded");
    }

    @Test
    void aChangedEventIsFound() {
        // The ids and payloads are the same. The key is not: it depends on the number of keys.
        Workload otherKeys = new Workload(4, 1_000, 0);
        assertThatThrownBy(() -> check("changed", otherKeys, 0, 1, 2, 3))
                .hasMessageContaining("is not the event that was loaded");
    }

    private Duration check(String topic, int... numbers) {
        return check(topic, workload, numbers);
    }

    private Duration check(String topic, Workload sent, int... numbers) {
        KAFKA.createTopic(topic, 1);
        Map<String, Object> settings = Map.of("bootstrap.servers", KAFKA.bootstrapServers());
        try (Producer<byte[], byte[]> producer =
                new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
            for (int number : numbers) {
                producer.send(EventRecord.of(sent, number).to(topic, null));
            }
        }
        return TopicCheck.check(KAFKA.bootstrapServers(), topic, workload, TopicCheck.Order.BY_KEY, deadline);
    }
}
