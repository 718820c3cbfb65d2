package dev.twinbox.proof.matrix;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.Ledger;
import dev.twinbox.fixtures.LedgerReport;
import dev.twinbox.fixtures.LedgerReport.Kind;
import dev.twinbox.fixtures.RelayProcess;
import dev.twinbox.fixtures.TcpProxy;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * A relay that is killed at a step of its work on three events of one key, then started again until they are done. Each
 * kill has its own topic. The recovered process is the victim of the next kill.
 */
final class RelayCrash implements AutoCloseable {
    static final String EMPTIED = "$!.kind().toString().equals(\"EMPTIED\")";

    private static final Duration LIMIT = Duration.ofMinutes(4);
    private static final int EVENTS = 3;
    private static final String LATE = "-late";

    /** The work during which the relay dies. */
    enum Work {
        EVENTS,
        /** Events of a topic that does not exist. */
        MISSING_TOPIC,
        /** The same, then the topic is created. */
        PARKED_WHOSE_TOPIC_COMES,
        /** Events in a slot that is no longer active. */
        OLD_SLOT
    }

    /** How far the records have got when the relay dies. */
    enum Race {
        /** The step leaves nothing open. */
        NONE,
        /** No sent record has reached Kafka. */
        NOTHING_ARRIVED,
        /** The first record is on Kafka, its acknowledgement has not arrived. */
        ONE_ARRIVED,
        /** The same for all of them. */
        ALL_ARRIVED,
        /** The same, already before the step began. */
        ALL_ARRIVED_FIRST,
        /** All records were on Kafka before the first acknowledgement arrived. */
        ALL_ARRIVED_THEN_ANSWERED,
        /** Everything was done before the step began. */
        SETTLED
    }

    /**
     * @param database what it held when the process died
     * @param kafka which committed records it held then
     * @param lost whether an event is not on Kafka in the end
     * @param sentTwice whether an event is there more than once
     */
    record Seen(String database, String kafka, boolean lost, boolean sentTwice) {}

    private final ProofServers servers;
    private final OutboxBook outbox;
    private final TcpProxy proxy;
    private final Map<KillPoint, KillSwitch> kills = new LinkedHashMap<>();
    private final RelayProcess relay;
    private RelayStep step;
    private String topic = "";
    private Map<String, String> ids = Map.of();

    /** @param steps at which it can be killed, all of one contract */
    RelayCrash(ProofServers servers, List<RelayStep> steps) throws SQLException {
        this.servers = servers;
        this.step = steps.get(0);
        String name = servers.newName("relay");
        this.outbox = new OutboxBook(servers, name);
        this.proxy = servers.kafka().proxy();
        Path folder = servers.folder(name);
        steps.stream()
                .flatMap(each -> Stream.of(each.point(), each.pointOfRecovery()))
                .forEach(point -> kills.computeIfAbsent(
                        point, same -> KillSwitch.at(same, folder.resolve(Integer.toString(kills.size())))));
        this.relay = servers.servers()
                .relay(servers.servers().directly().toKafkaThrough(List.of(proxy)), name)
                .config(config(name))
                .jvmOptions("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
                .jvmOptions(KillSwitch.jvmOptions(servers.byteman(), folder, kills.values()))
                .build();
    }

    private Map<String, String> config(String name) {
        Map<String, String> config = new LinkedHashMap<>();
        config.put("twinbox.relay.lease", "PT2S");
        if (step.isExactlyOnce()) {
            config.put("twinbox.relay.delivery", "exactly-once");
            config.put("twinbox.relay.name", name);
            servers.kafka().createTopic(name + "-position", 2);
        }
        return config;
    }

    /** Kills the relay once. */
    Seen kill(RelayStep at, Race race) throws SQLException {
        return undoneIfItFails(at, () -> {
            die(race);
            return end(look());
        });
    }

    /** Kills the relay again while it recovers from the first kill. */
    Seen killTwice(RelayStep at, Race race) throws SQLException {
        return undoneIfItFails(at, () -> {
            die(race);
            long before = published().size();
            proxy.heal();
            KillSwitch again = kills.get(step.pointOfRecovery());
            again.arm();
            relay.start();
            if (step.work() == Work.PARKED_WHOSE_TOPIC_COMES) {
                createMissingTopic();
            }
            again.awaitReached(relay);
            if (race == Race.ONE_ARRIVED) {
                awaitPublished(before + 1);
            }
            again.fire(relay);
            return end(look());
        });
    }

    private interface Crash {
        Seen run() throws SQLException;
    }

    private Seen undoneIfItFails(RelayStep at, Crash crash) throws SQLException {
        step = at;
        topic = servers.newName("events-" + at.number());
        servers.kafka().createTopic(topic, 1);
        ids = new LinkedHashMap<>();
        try {
            startAndWarmUp();
            return crash.run();
        } catch (RuntimeException | SQLException | Error e) {
            relay.kill();
            proxy.heal();
            kills.values().forEach(KillSwitch::disarm);
            throw e;
        }
    }

    /** A producer sends its first records to a partition differently from later ones. */
    private void startAndWarmUp() throws SQLException {
        relay.start().awaitReady();
        ids.put(outbox.insert(topic, "key"), topic);
        outbox.awaitSent(topic, relay);
        // The position is visible before the relay has left the step that saved it, and the relay would be killed
        // there. The same thread renews the lease.
        outbox.awaitRenewal(relay);
    }

    private void die(Race race) throws SQLException {
        KillSwitch kill = kills.get(step.point());
        switch (race) {
            case NONE -> reach(kill);
            case NOTHING_ARRIVED -> {
                proxy.blackHole();
                armAndInsert(kill);
                kill.awaitReached(relay);
            }
            case ONE_ARRIVED, ALL_ARRIVED -> {
                proxy.holdAnswers();
                armAndInsert(kill);
                kill.awaitReached(relay);
                awaitPublished(1 + (race == Race.ONE_ARRIVED ? 1 : EVENTS));
            }
            case ALL_ARRIVED_FIRST, ALL_ARRIVED_THEN_ANSWERED -> {
                proxy.holdAnswers();
                insert();
                awaitPublished(1 + EVENTS);
                kill.arm();
                if (race == Race.ALL_ARRIVED_THEN_ANSWERED) {
                    proxy.heal();
                }
                kill.awaitReached(relay);
            }
            case SETTLED -> {
                insert();
                outbox.awaitSent(topic, relay);
                kill.arm();
                kill.awaitReached(relay);
            }
        }
        kill.fire(relay);
        if (race == Race.NOTHING_ARRIVED) {
            proxy.cut(); // or Kafka would still get what the proxy has swallowed
        }
    }

    private void reach(KillSwitch kill) throws SQLException {
        if (step.work() == Work.PARKED_WHOSE_TOPIC_COMES) {
            insert();
            outbox.awaitParked(topic + LATE, EVENTS, relay);
            kill.arm();
            createMissingTopic();
        } else {
            armAndInsert(kill);
        }
        kill.awaitReached(relay);
    }

    private void armAndInsert(KillSwitch kill) throws SQLException {
        kill.arm();
        insert();
    }

    private void insert() throws SQLException {
        boolean missing = step.work() == Work.MISSING_TOPIC || step.work() == Work.PARKED_WHOSE_TOPIC_COMES;
        String to = missing ? topic + LATE : topic;
        outbox.insertTogether(EVENTS, step.work() == Work.OLD_SLOT ? 1 : 0, to, "key")
                .forEach(id -> ids.put(id, to));
    }

    private void createMissingTopic() {
        if (ids.containsValue(topic + LATE) && !servers.hasTopic(topic + LATE)) {
            servers.kafka().createTopic(topic + LATE, 1);
        }
    }

    private Seen look() throws SQLException {
        if (step == RelayStep.COMMITTED || step == RelayStep.CONFIRMED) {
            awaitPublished(1 + EVENTS); // Kafka has committed; consumers see it a little later
        }
        return new Seen(outbox.describe(topic, EVENTS), count(published()) + " of " + EVENTS, false, false);
    }

    private Seen end(Seen atDeath) throws SQLException {
        proxy.heal();
        relay.start();
        createMissingTopic();
        outbox.awaitSent(topic, relay);
        outbox.awaitParked(topic + LATE, 0, relay);
        List<ConsumerRecord<byte[], byte[]>> records = published();
        Map<String, Long> counts =
                records.stream().collect(Collectors.groupingBy(RelayCrash::id, Collectors.counting()));
        assertLedger(records);
        return new Seen(
                atDeath.database(),
                atDeath.kafka(),
                !counts.keySet().containsAll(ids.keySet()),
                counts.values().stream().anyMatch(count -> count > 1));
    }

    /** Checks order and content, and that no other event is there. Losses and repeats belong to the matrix. */
    private void assertLedger(List<ConsumerRecord<byte[], byte[]>> records) {
        Ledger ledger = Ledger.create();
        ids.forEach((id, to) -> ledger.committed(to, "key", id, id.getBytes(UTF_8)));
        LedgerReport report = ledger.published(records).check();
        assertThat(report.faults().stream().filter(fault -> fault.kind() != Kind.LOST))
                .as(report.toString())
                .isEmpty();
    }

    private List<ConsumerRecord<byte[], byte[]>> published() {
        List<ConsumerRecord<byte[], byte[]>> records =
                new ArrayList<>(servers.kafka().readAll(topic));
        if (servers.hasTopic(topic + LATE)) {
            records.addAll(servers.kafka().readAll(topic + LATE));
        }
        return records;
    }

    /** Without the first event, which warms the relay up. */
    private static long count(List<ConsumerRecord<byte[], byte[]>> records) {
        return records.stream().map(RelayCrash::id).distinct().count() - 1;
    }

    private void awaitPublished(long records) {
        await(records + " records on " + topic)
                .atMost(LIMIT)
                .until(() -> published().size() >= records);
    }

    private static String id(ConsumerRecord<byte[], byte[]> record) {
        return new String(record.headers().lastHeader("ce_id").value(), UTF_8);
    }

    @Override
    public void close() {
        relay.close();
        proxy.close();
    }
}
