package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.inbox.app.ParallelHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** An application with several lanes. It may have several instances; its database and topics exist once per JVM. */
final class ParallelApp {

    static final String GROUP = "parallel";
    static final String MOVING = "moving";
    static final int PARTITIONS = 4;
    static final int LANES = 4;
    static final Duration MAX_POLL_INTERVAL = Duration.ofSeconds(8);

    /** The wait is long for busy machines only: its end needs no trigger. */
    static final Duration LIMIT = Duration.ofSeconds(150);

    private ParallelApp() {}

    private static final class Once {
        static final Database DATABASE = new Database(GROUP);
        static final Topics TOPICS = new Topics();

        static {
            Servers.kafka().createTopic(GROUP, 1);
            Servers.kafka().createTopic(MOVING, PARTITIONS);
        }
    }

    static Database database() {
        return Once.DATABASE;
    }

    static Topics topics() {
        return Once.TOPICS;
    }

    static TestApp instance(String name) {
        return new TestApp(name, database().name())
                .with(ParallelHandlers.class)
                .with("twinbox.inbox.group", GROUP)
                .with("twinbox.inbox.lanes", Integer.toString(LANES))
                .with("twinbox.inbox.workers", "6")
                .with("twinbox.inbox.batch.size", "20")
                .with("twinbox.inbox.quick-tries", "2")
                .with("twinbox.inbox.parked.retry.initial", "PT0.1S")
                .with("twinbox.inbox.parked.retry.max", "PT0.2S")
                .with("twinbox.inbox.kafka.session.timeout.ms", "6000")
                .with("twinbox.inbox.kafka.max.poll.interval.ms", Long.toString(MAX_POLL_INTERVAL.toMillis()));
    }

    /** A member joins the group, takes partitions and gives them back. It neither reads nor commits. */
    static void passThrough() {
        try (KafkaConsumer<byte[], byte[]> passer = passer()) {
            passer.subscribe(List.of(MOVING));
            await().atMost(LIMIT).until(() -> {
                passer.poll(Duration.ofMillis(100));
                return !passer.assignment().isEmpty();
            });
        }
    }

    private static KafkaConsumer<byte[], byte[]> passer() {
        return new KafkaConsumer<>(
                Map.of(
                        "bootstrap.servers",
                        Servers.kafka().bootstrapServers(),
                        "group.id",
                        GROUP,
                        "group.protocol",
                        "classic",
                        "enable.auto.commit",
                        "false",
                        "auto.offset.reset",
                        "earliest",
                        "partition.assignment.strategy",
                        CooperativeStickyAssignor.class.getName()),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer());
    }

    /** Waits until so many members have a partition. */
    static void awaitOwners(int number) {
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(topics().owners(GROUP, MOVING)).hasSize(number));
    }

    static void awaitLagZero(String topic) {
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(topics().lag(GROUP, topic)).isZero());
    }

    /** {@code AT_LEAST_ONCE} may repeat an event but not skip it. The first calls of each key are in order. */
    static void assertAtLeastOnceInOrder(Sent sent) {
        List<String> first = database().effects("snapshot").stream().distinct().toList();
        sent.ids.forEach((key, ids) -> assertThat(first).containsSubsequence(ids));
    }
}
