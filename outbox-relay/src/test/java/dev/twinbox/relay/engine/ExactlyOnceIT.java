package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.relay.OutboxDatabaseFixture;
import dev.twinbox.relay.config.DeliveryMode;
import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelayException;
import dev.twinbox.relay.jdbc.Backlog;
import dev.twinbox.relay.jdbc.OutboxDatabase;
import dev.twinbox.relay.jdbc.ParkedSelection;
import dev.twinbox.relay.jdbc.ParkedState;
import dev.twinbox.relay.jdbc.Position;
import dev.twinbox.relay.jdbc.PositionTable;
import dev.twinbox.relay.jdbc.Rebase;
import dev.twinbox.relay.kafka.PositionTopic;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.producer.Producer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Exactly-once publication, crash point by crash point, and what it refuses. {@code ExactlyOnceKilledIT} tests it with
 * processes.
 */
@Tag("proof")
class ExactlyOnceIT {
    private static final Duration SOON = Duration.ofSeconds(90);

    /** What happens to a transaction's end whose success the relay does not learn. */
    private enum Commit {
        GOES_THROUGH,
        IS_LOST
    }

    /** Real producers. The ends of chosen transactions fail, numbered from 1 on. */
    private static final class LostAnswers implements UnaryOperator<Producer<byte[], byte[]>> {
        private final Commit commit;
        private final List<Integer> chosen;
        private final AtomicInteger commits = new AtomicInteger();

        LostAnswers(Commit commit, Integer... chosen) {
            this.commit = commit;
            this.chosen = List.of(chosen);
        }

        @Override
        @SuppressWarnings("unchecked")
        public Producer<byte[], byte[]> apply(Producer<byte[], byte[]> real) {
            return (Producer<byte[], byte[]>) Proxy.newProxyInstance(
                    Producer.class.getClassLoader(), new Class<?>[] {Producer.class}, (self, method, arguments) -> {
                        boolean lost = method.getName().equals("commitTransaction")
                                && chosen.contains(commits.incrementAndGet());
                        if (lost && commit == Commit.IS_LOST) {
                            throw new org.apache.kafka.common.errors.TimeoutException("no answer, by the test");
                        }
                        try {
                            Object result = method.invoke(real, arguments);
                            if (lost) {
                                throw new org.apache.kafka.common.errors.TimeoutException("no answer, by the test");
                            }
                            return result;
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
        }
    }

    @Test
    void aReaderOfCommittedRecordsSeesEachEventOnceAndInOrderAndThePositionFollows() throws Exception {
        try (EngineRig rig = exactlyOnce()) {
            EngineRig.Running relay = rig.start();
            insert(rig, "k", 500);
            awaitPayloads(rig, 500);
            await("nothing unsent").atMost(SOON).until(() -> unsent(rig) == 0);
            assertThat(relay.stop()).isEqualTo(ExitCode.OK);
            EngineRig.Running next = rig.start();
            insert(rig, "k", 500);
            assertOnceInOrder(rig, "k", 1_000);
            assertThat(next.stop()).isEqualTo(ExitCode.OK);
        }
    }

    /** The first end is that of the numbers' own transaction. Then come pages, and the first of them park events. */
    @ParameterizedTest
    @EnumSource
    void anEndOfATransactionWithoutAnAnswerIsFoundOutWithAllThatIsParkedInIt(Commit commit) throws Exception {
        try (EngineRig rig = exactlyOnce()) {
            rig.between = new LostAnswers(commit, 1, 2, 4, 5);
            EngineRig.setTopic(rig.topic, "max.message.bytes", "5000");
            insert(rig, "other", 20);
            insertLarge(rig, "k");
            insert(rig, "k", 100);
            EngineRig.Running relay = rig.start();
            awaitPayloads(rig, 20);
            rig.awaitParked(ParkedState.BEHIND, 100);
            rig.awaitParked(ParkedState.REFUSED, 1);
            assertThat(rig.number("select count(*) from outbox_parked")).isEqualTo(101);
            insert(rig, "k", 50);
            insert(rig, "other", 50);
            EngineRig.setTopic(rig.topic, "max.message.bytes", "1000000");
            retry(rig, 1);
            rig.awaitNothingParked();
            assertOnceInOrder(rig, "k", 151);
            assertOnceInOrder(rig, "other", 70);
            assertThat(relay.stop()).isEqualTo(ExitCode.OK);
        }
    }

    @ParameterizedTest
    @EnumSource
    void anEndWithoutAnAnswerWhileParkedEventsAreSentRepeatsNoneAndLosesNone(Commit commit) throws Exception {
        try (EngineRig rig = exactlyOnce()) {
            EngineRig.setTopic(rig.topic, "max.message.bytes", "5000");
            EngineRig.Running relay = rig.start();
            insertLarge(rig, "k");
            insert(rig, "k", 100);
            rig.awaitParked(ParkedState.BEHIND, 100);
            assertThat(relay.stop()).isEqualTo(ExitCode.OK);
            EngineRig.setTopic(rig.topic, "max.message.bytes", "1000000");
            retry(rig, 1);
            rig.between = new LostAnswers(commit, 1, 2); // of a relay that has nothing else to do
            EngineRig.Running next = rig.start();
            rig.awaitNothingParked();
            assertOnceInOrder(rig, "k", 101);
            assertThat(next.stop()).isEqualTo(ExitCode.OK);
        }
    }

    @Test
    void eventsForAMissingTopicWaitAndAreSentOnceWhenItComes() throws Exception {
        try (EngineRig rig = exactlyOnce()) {
            String late = rig.topic + "-late";
            EngineRig.Running relay = rig.start();
            try (Connection connection = rig.connect()) {
                for (int i = 0; i < 10; i++) {
                    OutboxDatabaseFixture.insert(connection, late, "k", payload(i));
                }
            }
            insert(rig, "k", 100);
            awaitPayloads(rig, 100);
            rig.awaitParked(ParkedState.WAITING, 1);
            EngineRig.KAFKA.createTopic(late, 1);
            rig.awaitNothingParked();
            assertThat(EngineRig.KAFKA.readAll(late)).hasSize(10);
            assertOnceInOrder(rig, "k", 100);
            assertThat(relay.stop()).isEqualTo(ExitCode.OK);
        }
    }

    @Test
    void theModeIsChangedOnADrainedOutboxOnlyAndNeverBack() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic()) {
            createPositionTopic(rig);
            EngineRig.Running before = rig.start();
            insert(rig, "k", 10);
            awaitPayloads(rig, 10);
            assertThat(before.stop()).isEqualTo(ExitCode.OK);
            insert(rig, "k", 3);
            rig.delivery = DeliveryMode.EXACTLY_ONCE;
            assertThat(rig.start().refusal())
                    .hasMessageContaining("on a drained outbox only, but 3 events are unsent")
                    .extracting(RelayException::exitCode)
                    .isEqualTo(ExitCode.DELIVERY);
            rig.delivery = DeliveryMode.AT_LEAST_ONCE;
            EngineRig.Running drains = rig.start();
            awaitPayloads(rig, 13);
            assertThat(drains.stop()).isEqualTo(ExitCode.OK);
            rig.delivery = DeliveryMode.EXACTLY_ONCE;
            EngineRig.Running changed = rig.start();
            await("the change")
                    .atMost(SOON)
                    .until(() -> rig.number("select count(exactly_once) from outbox_lease") == 1);
            insert(rig, "k", 7);
            assertOnceInOrder(rig, "k", 20);
            rig.delivery = DeliveryMode.AT_LEAST_ONCE;
            assertThat(rig.start().refusal()) // also while the other one runs
                    .hasMessageContaining("publishes exactly once, and there is no way back")
                    .extracting(RelayException::exitCode)
                    .isEqualTo(ExitCode.DELIVERY);
            assertThat(changed.stop()).isEqualTo(ExitCode.OK);
            assertThat(rig.start().refusal()).hasMessageContaining("there is no way back");
        }
    }

    @Test
    void parkedEventsKeepTheModeFromBeingChanged() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic(Map.of("max.message.bytes", "5000"))) {
            createPositionTopic(rig);
            EngineRig.Running before = rig.start();
            insertLarge(rig, "k");
            rig.awaitParked(ParkedState.REFUSED, 1);
            assertThat(before.stop()).isEqualTo(ExitCode.OK);
            rig.delivery = DeliveryMode.EXACTLY_ONCE;
            assertThat(rig.start().refusal()).hasMessageContaining("events are parked");
        }
    }

    @Test
    void aMissingPositionTopicIsToldAtOnceWithTheCommandThatMakesIt() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic()) {
            rig.delivery = DeliveryMode.EXACTLY_ONCE;
            assertThat(rig.start().refusal())
                    .hasMessageContaining("topic \"" + rig.positionTopic + "\" does not exist")
                    .hasMessageContaining("twinbox-relay migrate")
                    .extracting(RelayException::exitCode)
                    .isEqualTo(ExitCode.DELIVERY);
        }
    }

    @Test
    void committedOffsetsThatAreGoneAreAnErrorUntilAnOperatorSaysGoOn() throws Exception {
        try (EngineRig rig = exactlyOnce()) {
            EngineRig.Running relay = rig.start();
            insert(rig, "k", 10);
            awaitPayloads(rig, 10);
            assertThat(relay.stop()).isEqualTo(ExitCode.OK);
            deleteGroup(rig);
            assertThat(rig.start().refusal())
                    .hasMessageContaining("Kafka has no committed offset of it")
                    .hasMessageContaining("rebase --from-position")
                    .extracting(RelayException::exitCode)
                    .isEqualTo(ExitCode.DELIVERY);
            forgetKafka(rig);
            EngineRig.Running next = rig.start();
            insert(rig, "k", 10);
            assertOnceInOrder(rig, "k", 20); // Nothing was in flight, so nothing is repeated.
            assertThat(next.stop()).isEqualTo(ExitCode.OK);
        }
    }

    /** As after a fail-over to a standby that had not received the last commits. */
    @Test
    void aNumberThatTheDatabaseDoesNotKnowIsRefusedUntilAnOperatorSaysGoOn() throws Exception {
        try (EngineRig rig = exactlyOnce()) {
            EngineRig.Running relay = rig.start();
            insert(rig, "k", 10);
            awaitPayloads(rig, 10);
            await("nothing unsent").atMost(SOON).until(() -> unsent(rig) == 0);
            long known = rig.saves();
            insert(rig, "k", 10);
            awaitPayloads(rig, 20);
            assertThat(relay.stop()).isEqualTo(ExitCode.OK);
            rig.execute("delete from outbox_position where number > " + known);
            assertThat(rig.start().refusal())
                    .hasMessageContaining("which its database does not know")
                    .hasMessageContaining("rebase --from-position")
                    .extracting(RelayException::exitCode)
                    .isEqualTo(ExitCode.DELIVERY);
            forgetKafka(rig);
            EngineRig.Running next = rig.start();
            awaitPayloads(rig, 30); // Events that Kafka had beyond the position are repeated.
            assertThat(next.stop()).isEqualTo(ExitCode.OK);
        }
    }

    @Test
    void twoOutboxesThatShareAPositionTopicAreKeptApart() throws Exception {
        try (EngineRig first = exactlyOnce();
                EngineRig second = EngineRig.create().withTopic()) {
            EngineRig.Running relay = first.start();
            insert(first, "k", 1);
            awaitPayloads(first, 1);
            assertThat(relay.stop()).isEqualTo(ExitCode.OK);
            second.delivery = DeliveryMode.EXACTLY_ONCE;
            second.positionTopic = first.positionTopic;
            assertThat(second.start().refusal()).hasMessageContaining("is not of this outbox");
        }
    }

    private static EngineRig exactlyOnce() throws SQLException {
        EngineRig rig = EngineRig.create().withTopic();
        rig.delivery = DeliveryMode.EXACTLY_ONCE;
        createPositionTopic(rig);
        return rig;
    }

    private static void createPositionTopic(EngineRig rig) {
        assertThat(PositionTopic.create(rig.config())).isTrue();
        assertThat(PositionTopic.create(rig.config())).isFalse();
    }

    private static void insert(EngineRig rig, String key, int events) throws SQLException {
        try (Connection connection = rig.connect()) {
            for (int i = 0; i < events; i++) {
                rig.insert(connection, key, key + " " + i);
            }
        }
    }

    private static byte[] payload(int number) {
        return Integer.toString(number).getBytes(StandardCharsets.UTF_8);
    }

    private static void insertLarge(EngineRig rig, String key) throws SQLException {
        try (Connection connection = rig.connect()) {
            rig.insert(connection, key, Scenario24TooLargeIT.incompressible(20_000));
        }
    }

    private static void retry(EngineRig rig, int events) throws SQLException {
        try (Connection connection = rig.connect()) {
            assertThat(rig.parked(connection).retry(ParkedSelection.ALL)).isEqualTo(events);
        }
    }

    private static void deleteGroup(EngineRig rig) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", EngineRig.KAFKA.bootstrapServers()))) {
            admin.deleteConsumerGroups(List.of(rig.positionTopic)).all().get(90, TimeUnit.SECONDS);
        }
    }

    private static void forgetKafka(EngineRig rig) throws SQLException {
        try (Connection connection = rig.connect()) {
            assertThat(new Rebase(connection, OutboxDatabaseFixture.SCHEMA)
                            .forgetKafka(OutboxDatabase.identify(connection).systemIdentifier(), "relay"))
                    .containsExactly("relay");
        }
    }

    private static int unsent(EngineRig rig) throws SQLException {
        try (Connection connection = rig.connect()) {
            Position position = new PositionTable(connection, OutboxDatabaseFixture.SCHEMA, "relay")
                    .load()
                    .position();
            return Backlog.behind(position, connection, OutboxDatabaseFixture.SCHEMA.events())
                    .events();
        }
    }

    private static void awaitPayloads(EngineRig rig, int count) {
        await(count + " committed records")
                .atMost(SOON)
                .pollInterval(Duration.ofMillis(50))
                .until(() -> rig.payloads().size() >= count);
    }

    /** The records of a key are its committed events, each once, in order. */
    private static void assertOnceInOrder(EngineRig rig, String key, int events) throws SQLException {
        await(events + " records of " + key)
                .atMost(SOON)
                .pollInterval(Duration.ofMillis(50))
                .until(() -> rig.payloadsOf(key).size() >= events);
        assertThat(rig.payloadsOf(key)).isEqualTo(committed(rig, key)).hasSize(events);
    }

    private static List<String> committed(EngineRig rig, String key) throws SQLException {
        List<String> payloads = new ArrayList<>();
        try (Connection connection = rig.connect();
                var statement = connection.createStatement();
                var row =
                        statement.executeQuery("select convert_from(payload, 'UTF8') from outbox_event where topic = '"
                                + rig.topic + "' and key = '" + key + "' order by seq")) {
            while (row.next()) {
                payloads.add(row.getString(1));
            }
        }
        return payloads;
    }
}
