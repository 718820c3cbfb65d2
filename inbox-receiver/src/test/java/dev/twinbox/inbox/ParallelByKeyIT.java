package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.CloudEventHeaders;
import dev.twinbox.inbox.app.ParallelHandlers;
import dev.twinbox.inbox.server.PayaraHost;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/** Several lanes of a partition at the same time: the order of each key, and that every effect happens once, whatever comes between. */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class ParallelByKeyIT {

    private static final String APP = "parallel";
    private static final String SECOND = "parallel-b";
    private static final String THIRD = "parallel-c";
    private static final String MOVING = "moving";
    private static final int PARTITIONS = 4;
    private static final int LANES = 4;
    private static final Duration MAX_POLL_INTERVAL = Duration.ofSeconds(8);

    /** For a soak: {@code -Pproof -Dit.test=ParallelByKeyIT -Dtwinbox.it.rebalances=PT3M}. */
    private static final Duration REBALANCES = Duration.parse(System.getProperty("twinbox.it.rebalances", "PT30S"));

    /** The machine may be busy; what is waited for comes by itself. */
    private static final Duration LIMIT = Duration.ofSeconds(150);

    private static Database database;
    private static Topics topics;

    @BeforeAll
    static void deploy() {
        database = new Database(APP);
        topics = new Topics();
        Servers.kafka().createTopic(APP, 1);
        Servers.kafka().createTopic(MOVING, PARTITIONS);
        MainApp.deploy(app(APP));
        MainApp.deploy(app(SECOND));
        awaitOwners(2);
    }

    @AfterAll
    static void undeploy() {
        Servers.payara().undeploy(APP);
        Servers.payara().undeploy(SECOND);
        topics.close();
    }

    private static TestApp app(String name) {
        return new TestApp(name, database.name())
                .with(ParallelHandlers.class)
                .with("twinbox.inbox.group", APP)
                .with("twinbox.inbox.lanes", Integer.toString(LANES))
                .with("twinbox.inbox.workers", "6")
                .with("twinbox.inbox.batch.size", "20")
                .with("twinbox.inbox.lanes-ahead", "1000")
                .with("twinbox.inbox.quick-tries", "2")
                .with("twinbox.inbox.parked.retry.initial", "PT0.1S")
                .with("twinbox.inbox.parked.retry.max", "PT0.2S")
                .with("twinbox.inbox.kafka.session.timeout.ms", "6000")
                .with("twinbox.inbox.kafka.max.poll.interval.ms", Long.toString(MAX_POLL_INTERVAL.toMillis()));
    }

    @Test
    @Order(1)
    void aKeyWhoseHandlerIsSlowHoldsUpNoOtherLaneAndCostsNoMembership() {
        List<String> others = IntStream.range(0, 100)
                .mapToObj(i -> "key-" + i)
                .filter(key -> lane(key) != lane("slow"))
                .toList();
        Set<String> owner = topics.owners(APP, APP);
        try (Database.Gate gate = database.shutGate(771)) {
            topics.add(APP, "slow", "slow-0", "gate:771", 1);
            topics.add(APP, "slow", "slow-1", "", 0);
            others.forEach(key -> topics.add(APP, key, key, "", 0));
            topics.flush();
            await().atMost(LIMIT)
                    .untilAsserted(
                            () -> assertThat(database.effects("parallel")).containsAll(others));
            long since = System.nanoTime();
            await("longer than a member may go without a poll")
                    .atMost(LIMIT)
                    .until(() -> System.nanoTime() - since
                            > MAX_POLL_INTERVAL.plusSeconds(1).toNanos());

            assertThat(topics.owners(APP, APP)).isEqualTo(owner);
            assertThat(database.waiting(771)).isEqualTo(1);
            assertThat(topics.lag(APP, APP))
                    .as("nothing behind the slow event is committed")
                    .isEqualTo(2 + others.size());
        }
        awaitLagZero(APP);

        assertThat(database.effects("parallel"))
                .containsSubsequence("slow-0", "slow-1")
                .doesNotHaveDuplicates();
    }

    @Test
    @Order(2)
    void theOrderOfAKeyIsKeptThroughRepetitionsIsolationAndParking() {
        Sent sent = new Sent("parallel");
        for (int i = 0; i < 300; i++) {
            String key = "f" + i % 15;
            // Once: repeated singly in place. Three times: parked, and what follows of its key behind it.
            String action = i % 47 == 5 ? "runtime" : "";
            topics.add(APP, key, sent.next(key), action, i % 2 == 0 ? 1 : 3);
        }
        topics.flush();
        awaitLagZero(APP);
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(database.count("inbox_parked")).isZero());

        assertThat(MainApp.status(APP, "parked") + MainApp.status(SECOND, "parked"))
                .isPositive();
        sent.assertExact();
    }

    @Test
    @Tag("proof")
    @Order(3)
    void rebalancesInTheMiddleLoseRepeatAndReorderNothing() {
        Sent sent = new Sent(MOVING);
        int rebalances = 0;
        long end = System.nanoTime() + REBALANCES.toNanos();
        try (Load load = new Load(sent)) {
            while (System.nanoTime() < end || rebalances < 3) {
                try (KafkaConsumer<byte[], byte[]> passer = passer()) {
                    passer.subscribe(List.of(MOVING));
                    await().atMost(LIMIT).until(() -> {
                        passer.poll(Duration.ofMillis(100));
                        return !passer.assignment().isEmpty();
                    });
                }
                rebalances++;
                awaitOwners(2);
            }
        }
        awaitLagZero(MOVING);

        sent.assertExact();
        assertAtLeastOnceInOrder(sent);
    }

    /** Takes partitions and gives them back, without having read or committed anything. */
    private static KafkaConsumer<byte[], byte[]> passer() {
        return new KafkaConsumer<>(
                Map.of(
                        "bootstrap.servers",
                        Servers.kafka().bootstrapServers(),
                        "group.id",
                        APP,
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

    @Test
    @Tag("proof")
    @Order(4)
    void aServerThatIsPausedBeyondItsSessionAndThenKilledLosesRepeatsAndReordersNothing() {
        Sent sent = new Sent(MOVING);
        try (PayaraHost third = Servers.newPayara()) {
            third.deploy(THIRD, app(THIRD).build());
            awaitOwners(3);
            try (Load load = new Load(sent)) {
                third.pause();
                awaitOwners(2);
                third.resume();
                awaitOwners(3);
                // In the middle of a batch: handlers are at work, one of them in this server or another.
                await().atMost(LIMIT)
                        .until(() -> database.count(
                                        "pg_stat_activity where datname = 'parallel' "
                                                + "and query like '%pg_sleep%' and state = 'active' and pid <> pg_backend_pid()")
                                > 0);
                third.close();
                awaitOwners(2);
            }
        }
        awaitLagZero(MOVING);

        sent.assertExact();
        assertAtLeastOnceInOrder(sent);
    }

    private static void awaitOwners(int number) {
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(topics.owners(APP, MOVING)).hasSize(number));
    }

    private static void awaitLagZero(String topic) {
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(topics.lag(APP, topic)).isZero());
    }

    /** {@code AT_LEAST_ONCE} may repeat, but not leave out, and the first time of each is in the order of its key. */
    private static void assertAtLeastOnceInOrder(Sent sent) {
        List<String> first = database.effects("snapshot").stream().distinct().toList();
        sent.ids.forEach((key, ids) -> assertThat(first).containsSubsequence(ids));
    }

    private static int lane(String key) {
        AssignedPartition partition = new AssignedPartition(new TopicPartition(APP, 0), 0, 0, LANES);
        partition.add(
                List.of(ReceivedEvent.of(
                        new org.apache.kafka.clients.consumer.ConsumerRecord<>(APP, 0, 0, Topics.bytes(key), null),
                        new Subscription(
                                APP,
                                Map.of(),
                                Aliases.NONE,
                                TopicFormat.OfTopics.CLOUD_EVENTS,
                                UnknownType.SKIP,
                                new NoSerializer()),
                        new InboxStatus())),
                1);
        return IntStream.range(0, LANES)
                .filter(i -> partition.lanes().get(i).first() != null)
                .findFirst()
                .orElseThrow();
    }

    /** What was sent, by key in order, and whether its effects are exactly that. */
    private static final class Sent {
        private static int runs;

        private final String handler;
        private final String run = "run" + runs++ + "-";
        private final Map<String, List<String>> ids = new LinkedHashMap<>();

        Sent(String handler) {
            this.handler = handler;
        }

        String next(String key) {
            List<String> ofKey = ids.computeIfAbsent(key, k -> new ArrayList<>());
            ofKey.add(run + key + "-" + ofKey.size());
            return ofKey.get(ofKey.size() - 1);
        }

        void assertExact() {
            Map<String, List<String>> effects = database.effects(handler).stream()
                    .filter(id -> id.startsWith(run))
                    .collect(Collectors.groupingBy(
                            id -> id.substring(run.length(), id.lastIndexOf('-')),
                            LinkedHashMap::new,
                            Collectors.toList()));
            assertThat(effects.keySet()).containsExactlyInAnyOrderElementsOf(ids.keySet());
            ids.forEach((key, expected) -> assertThat(effects.get(key)).as(key).isEqualTo(expected));
        }
    }

    /** Sends events of forty keys, one of which takes its time in the handler, until it is closed. */
    private static final class Load implements AutoCloseable {
        private final Sent sent;
        private final Thread thread = new Thread(this::send, "load");
        private volatile boolean closed;
        private volatile Throwable failure;

        Load(Sent sent) {
            this.sent = sent;
            thread.start();
        }

        private void send() {
            try {
                for (int i = 0; !closed; i++) {
                    for (int k = 0; k < 40; k++) {
                        String key = "m" + k;
                        boolean slow = k == 7 && i % 5 == 0;
                        add(k % PARTITIONS, key, sent.next(key), slow ? "sql:select pg_sleep(0.3)" : "");
                    }
                    topics.flush();
                    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(200)); // a rate, not a wait
                }
            } catch (RuntimeException | Error e) {
                failure = e;
            }
        }

        private static void add(int partition, String key, String id, String action) {
            ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(
                    MOVING, partition, Topics.bytes(key), Topics.bytes(Topics.order(id, action, Integer.MAX_VALUE)));
            record.headers()
                    .add(CloudEventHeaders.ID, Topics.bytes(id))
                    .add(CloudEventHeaders.TYPE, Topics.bytes("order"));
            topics.add(record);
        }

        @Override
        public void close() {
            closed = true;
            try {
                thread.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            assertThat(failure).isNull();
        }
    }
}
