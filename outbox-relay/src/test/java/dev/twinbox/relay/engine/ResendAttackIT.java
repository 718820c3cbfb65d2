package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.twinbox.relay.OutboxDatabaseFixture;
import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.config.RelayException;
import dev.twinbox.relay.jdbc.EventSlots;
import dev.twinbox.relay.jdbc.PausedTopicTable;
import dev.twinbox.relay.jdbc.SentEvents;
import dev.twinbox.relay.resend.ResendJob;
import dev.twinbox.relay.resend.ResendTable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.NetworkException;
import org.junit.jupiter.api.Test;

/** What could make a job lose an event, send one too often, break the order of a key, or hang. */
class ResendAttackIT {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final Map<String, String> COMPACTED = Map.of("cleanup.policy", "compact");

    /** Relays of other names send from the same table. */
    @Test
    void aRunningRelayEmptiesNoSlotThatAJobOfAnotherRelayNeeds() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection connection = rig.connect()) {
            EngineRig.Running relay = rig.start();
            ResendIT.insert(rig, 0, 4);
            ResendIT.awaitSaved(rig, 4);
            ResendTable others = new ResendTable(connection, OutboxDatabaseFixture.SCHEMA, "other");
            long job = Objects.requireNonNull(others.request(ResendIT.ALL, Set.of()));
            rig.execute("update outbox_event set slot = " + inactive(connection));
            await("the slot is kept")
                    .atMost(SOON)
                    .until(() -> Objects.requireNonNullElse(
                                    relay.progress().observed().rotationStop(), "")
                            .contains("job " + job + " of \"resend\" of relay \"other\" needs it"));
            assertThat(rig.number("select count(*) from outbox_event")).isEqualTo(4);
            assertThat(others.cancel(job)).isTrue();
            await("emptied").atMost(SOON).until(() -> rig.number("select count(*) from outbox_event") == 0);
            assertThat(rig.number("select emptied_seq from outbox_lease")).isEqualTo(4);
            assertThat(relay.stop()).isEqualTo(ExitCode.OK);
        }
    }

    /** A transaction kept the slot of the first events while the next slot was emptied. */
    @Test
    void whatWasEmptiedAmidTheRangeIsSaidAndCompactedTopicsBeginAfterIt() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic(COMPACTED);
                Connection connection = rig.connect()) {
            EngineRig.Running first = rig.start();
            ResendIT.insert(rig, 0, 8);
            ResendIT.awaitSaved(rig, 8);
            assertThat(first.stop()).isEqualTo(ExitCode.OK);
            rig.execute("update outbox_event set slot = " + inactive(connection) + " where seq > 4");
            EventSlots slots = new EventSlots(connection, OutboxDatabaseFixture.SCHEMA, "relay");
            assertThat(new SlotRotation(slots, OutboxDatabaseFixture.SCHEMA, new ObservedOutbox(System::nanoTime))
                            .runOnce())
                    .isEqualTo(1);
            EngineRig.Running relay = rig.start();
            ResendIT.insert(rig, 8, 12);
            ResendIT.awaitSaved(rig, 8);

            assertThatThrownBy(() -> ResendIT.preview(rig, ResendIT.ALL))
                    .isInstanceOf(RelayException.class)
                    .hasMessageContaining("begin with number 9");
            ResendJob refused = ResendIT.awaitOver(rig, ResendIT.request(rig, ResendIT.ALL, Set.of(rig.topic)));
            assertThat(refused.state()).isEqualTo(ResendJob.State.FAILED);
            assertThat(refused.error()).contains("begin with number 9");
            SentEvents.Range after = new SentEvents.Range(9L, null, null, null, null, null);
            assertThat(ResendIT.preview(rig, after).emptiedUpTo()).isZero();
            ResendJob done = ResendIT.awaitOver(rig, ResendIT.request(rig, after, Set.of(rig.topic)));
            assertThat(done.state()).as(done.toString()).isEqualTo(ResendJob.State.FINISHED);
            assertThat(rig.payloadsOf("key1")).containsExactly("event 1", "event 5", "event 9", "event 9");

            EngineRig.setTopic(rig.topic, "cleanup.policy", "delete");
            assertThat(ResendIT.preview(rig, ResendIT.ALL).emptiedUpTo()).isEqualTo(8);
            assertThat(relay.stop()).isEqualTo(ExitCode.OK);
        }
    }

    /** A partition may be away for hours. Each try would send all events of the others again. */
    @Test
    void aPartitionWithoutAnswersDoesNotRepeatTheOthers() throws Exception {
        AtomicBoolean isAway = new AtomicBoolean();
        try (EngineRig rig = EngineRig.create().withTopic();
                BrokenProducer broken = new BrokenProducer(
                        BrokenProducer.Fault.NO_ANSWER, record -> isAway.get() && is(record, "event 6"))) {
            rig.between = broken;
            rig.stallTimeout = Duration.ofSeconds(3);
            EngineRig.Running relay = rig.start();
            ResendIT.insert(rig, 0, 12);
            ResendIT.awaitSaved(rig, 12);
            isAway.set(true);
            long job = ResendIT.request(rig, ResendIT.ALL, Set.of());
            await("three tries").atMost(SOON).until(() -> broken.faults() >= 3);
            broken.mend();
            assertThat(ResendIT.awaitOver(rig, job).sent().sent()).isEqualTo(12);
            for (int key = 0; key < 2; key++) {
                List<String> once = List.of("event " + key, "event " + (key + 4), "event " + (key + 8));
                assertThat(rig.payloadsOf("key" + key)).startsWith(once.toArray(String[]::new));
                assertThat(rig.payloadsOf("key" + key).stream().filter(("event " + key)::equals))
                        .hasSize(2);
            }
            assertThat(rig.payloadsOf("key2"))
                    .as("the later one of the key follows again")
                    .containsExactly("event 2", "event 6", "event 10", "event 2", "event 10", "event 6", "event 10");
            assertThat(relay.stop()).isEqualTo(ExitCode.OK);
        }
    }

    /** The producer's thread closes it after a failure, while the next record is being handed over. */
    @Test
    void aProducerThatIsClosedWhileItIsUsedIsReplaced() throws Exception {
        AtomicBoolean isDue = new AtomicBoolean();
        try (EngineRig rig = EngineRig.create().withTopic()) {
            rig.between = closedAmidSend(isDue);
            EngineRig.Running relay = rig.start();
            ResendIT.insert(rig, 0, 8);
            ResendIT.awaitSaved(rig, 8);
            isDue.set(true);
            ResendJob done = ResendIT.awaitOver(rig, ResendIT.request(rig, ResendIT.ALL, Set.of()));
            assertThat(done.state()).isEqualTo(ResendJob.State.FINISHED);
            assertThat(isDue).as("it has happened").isFalse();
            assertInOrder(rig, 8);
            assertThat(relay.stop()).isEqualTo(ExitCode.OK);
        }
    }

    @Test
    void aLeaseThatIsLostAmidAPageLeavesTheRestToTheNextOwner() throws Exception {
        AtomicBoolean isAway = new AtomicBoolean();
        try (EngineRig rig = EngineRig.create().withTopic();
                BrokenProducer broken = new BrokenProducer(
                        BrokenProducer.Fault.NO_ANSWER, record -> isAway.get() && is(record, "event 13"))) {
            rig.between = broken;
            rig.page = new RelayConfig.Page(5, 100_000, 4);
            EngineRig.Running relay = rig.start();
            ResendIT.insert(rig, 0, 20);
            ResendIT.awaitSaved(rig, 20);
            isAway.set(true);
            long job = ResendIT.request(rig, ResendIT.ALL, Set.of());
            await("amid a page").atMost(SOON).until(() -> broken.faults() > 0);
            rig.execute("update outbox_lease set owner = gen_random_uuid(), epoch = epoch + 1,"
                    + " ends_at = clock_timestamp() + interval '2 s'");
            long stolen = rig.number("select epoch from outbox_lease");
            broken.mend();
            ResendJob done = ResendIT.awaitOver(rig, job);
            assertThat(done.state()).isEqualTo(ResendJob.State.FINISHED);
            assertThat(done.epoch()).isGreaterThan(stolen);
            assertInOrder(rig, 20);
            assertThat(relay.stop()).isEqualTo(ExitCode.OK);
        }
    }

    @Test
    void aCompactedTopicWhoseNewestEventIsRefusedFailsTheJob() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic(COMPACTED)) {
            EngineRig.Running relay = rig.start();
            byte[] large = new byte[20_000];
            new Random(1).nextBytes(large);
            try (Connection connection = rig.connect()) {
                rig.insert(connection, "a", "a1");
                OutboxDatabaseFixture.insert(connection, rig.topic, "a", large);
                rig.insert(connection, "b", "b1");
            }
            ResendIT.awaitSaved(rig, 3);
            EngineRig.setTopic(rig.topic, "max.message.bytes", "5000");
            ResendJob job = ResendIT.awaitOver(rig, ResendIT.request(rig, ResendIT.ALL, Set.of(rig.topic)));
            assertThat(job.state()).isEqualTo(ResendJob.State.FAILED);
            assertThat(job.error()).contains("1 events were refused", "older event of a key", "max.message.bytes");
            assertThat(rig.payloadsOf("b")).as("sent to the end").hasSizeGreaterThan(1);
            assertThat(relay.stop()).isEqualTo(ExitCode.OK);
        }
    }

    /** Application servers have clocks of their own: the newest event of a key may have an earlier time. */
    @Test
    void timesAreNoBeginningForCompactedTopics() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic(COMPACTED)) {
            EngineRig.Running relay = rig.start();
            ResendIT.insert(rig, 0, 2);
            ResendIT.awaitSaved(rig, 2);
            rig.execute("update outbox_event set occurred_at = '2026-01-01T00:00:00Z'");
            SentEvents.Range range =
                    new SentEvents.Range(null, null, Instant.parse("2026-01-01T00:00:00Z"), null, null, null);
            assertThatThrownBy(() -> ResendIT.preview(rig, range)).hasMessageContaining("Give \"from\" as a number");
            ResendJob job = ResendIT.awaitOver(rig, ResendIT.request(rig, range, Set.of(rig.topic)));
            assertThat(job.error()).contains("Give \"from\" as a number");
            assertThat(rig.recordCount()).isEqualTo(2);
            assertThat(relay.stop()).isEqualTo(ExitCode.OK);
        }
    }

    /** The position waits for room, and the job for the position. */
    @Test
    void aJobThatCouldNeverBeginFailsAndLetsTheTopicGo() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic(COMPACTED);
                Connection connection = rig.connect()) {
            rig.pausedRows = 3;
            EngineRig.Running relay = rig.start();
            ResendIT.insert(rig, 0, 4);
            ResendIT.awaitSaved(rig, 4);
            PausedTopicTable paused = new PausedTopicTable(connection, OutboxDatabaseFixture.SCHEMA, "relay");
            paused.pause(rig.topic);
            await("paused")
                    .atMost(SOON)
                    .until(() -> Objects.requireNonNull(
                                    relay.progress().observed().pausedTopics())
                            .containsKey(rig.topic));
            ResendIT.insert(rig, 4, 7);
            await("set aside").atMost(SOON).until(() -> rig.number("select count(*) from outbox_parked") == 3);
            ResendIT.insert(rig, 7, 8);
            long job = ResendIT.request(rig, ResendIT.ALL, Set.of(rig.topic));
            paused.resume(rig.topic);
            ResendJob failed = ResendIT.awaitOver(rig, job);
            assertThat(failed.state()).isEqualTo(ResendJob.State.FAILED);
            assertThat(failed.error()).contains("they cannot be sent", "twinbox.relay.paused.rows");
            rig.awaitNothingParked();
            rig.awaitRecords(8);
            assertInOrder(rig, 8);
            assertThat(relay.stop()).isEqualTo(ExitCode.OK);
        }
    }

    @Test
    void aTopicThatIsGoneEndsTheJob() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic()) {
            EngineRig.Running relay = rig.start();
            ResendIT.insert(rig, 0, 4);
            ResendIT.awaitSaved(rig, 4);
            try (Admin admin = Admin.create(Map.of("bootstrap.servers", EngineRig.KAFKA.bootstrapServers()))) {
                admin.deleteTopics(List.of(rig.topic)).all().get(90, TimeUnit.SECONDS);
                await("gone")
                        .atMost(SOON)
                        .until(() -> !admin.listTopics()
                                .names()
                                .get(90, TimeUnit.SECONDS)
                                .contains(rig.topic));
            }
            ResendJob job = ResendIT.awaitOver(rig, ResendIT.request(rig, ResendIT.ALL, Set.of()));
            assertThat(job.state()).isEqualTo(ResendJob.State.FAILED);
            assertThat(job.error()).contains(rig.topic);
            assertThatThrownBy(() -> ResendIT.preview(rig, ResendIT.ALL))
                    .isInstanceOf(RelayException.class)
                    .hasMessageContaining(rig.topic);
            assertThat(relay.stop()).isEqualTo(ExitCode.OK);
        }
    }

    /** As a relay of an earlier version does it: it knows no jobs. */
    @Test
    void whatIsEmptiedBetweenTwoOwnersEndsTheJob() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic()) {
            EngineRig.Running first = rig.start();
            ResendIT.insert(rig, 0, 8);
            ResendIT.awaitSaved(rig, 8);
            assertThat(first.stop()).isEqualTo(ExitCode.OK);
            long job = ResendIT.request(rig, ResendIT.ALL, Set.of());
            rig.execute("update outbox_resend set state = 'running', after_seq = 2, epoch = 1, sent_from ="
                    + " (select window_from from outbox_position order by number desc limit 1)");
            rig.execute("delete from outbox_event where seq < 5");
            EngineRig.Running second = rig.start();
            ResendJob failed = ResendIT.awaitOver(rig, job);
            assertThat(failed.state()).isEqualTo(ResendJob.State.FAILED);
            assertThat(failed.error()).contains("were emptied from the table, after number 2");
            assertThat(rig.recordCount()).isEqualTo(8);
            assertThat(second.stop()).isEqualTo(ExitCode.OK);
        }
    }

    private static int inactive(Connection connection) throws Exception {
        return (new EventSlots(connection, OutboxDatabaseFixture.SCHEMA, "relay").current() + 1) % 3;
    }

    private static boolean is(ProducerRecord<byte[], byte[]> record, String payload) {
        return new String(record.value(), StandardCharsets.UTF_8).equals(payload);
    }

    /** The first one that is due fails on a thread of the producer, and then the producer is closed. */
    @SuppressWarnings("unchecked")
    private static UnaryOperator<Producer<byte[], byte[]>> closedAmidSend(AtomicBoolean isDue) {
        return real -> (Producer<byte[], byte[]>) Proxy.newProxyInstance(
                Producer.class.getClassLoader(), new Class<?>[] {Producer.class}, (self, method, arguments) -> {
                    if (method.getName().equals("send")
                            && arguments.length == 2
                            && is((ProducerRecord<byte[], byte[]>) arguments[0], "event 5")
                            && isDue.getAndSet(false)) {
                        CompletableFuture.runAsync(() ->
                                        ((Callback) arguments[1]).onCompletion(null, new NetworkException("injected")))
                                .get();
                    }
                    try {
                        return method.invoke(real, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    /** Within a key nothing is left out. A repeated part begins earlier, and the last event is the newest one. */
    private static void assertInOrder(EngineRig rig, int events) {
        for (int key = 0; key < 4; key++) {
            int each = key;
            List<String> expected = IntStream.range(0, events)
                    .filter(i -> i % 4 == each)
                    .mapToObj(i -> "event " + i)
                    .toList();
            List<String> all = rig.payloadsOf("key" + key);
            int last = -1;
            for (String payload : all) {
                assertThat(expected.indexOf(payload)).as(all.toString()).isLessThanOrEqualTo(last + 1);
                last = expected.indexOf(payload);
            }
            assertThat(last).as(all.toString()).isEqualTo(expected.size() - 1);
        }
    }
}
