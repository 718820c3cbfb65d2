package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.relay.OutboxDatabaseFixture;
import dev.twinbox.relay.config.DeliveryMode;
import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.LeaseTable;
import dev.twinbox.relay.jdbc.OutboxRecord;
import dev.twinbox.relay.jdbc.ParkReason;
import dev.twinbox.relay.jdbc.ParkedState;
import dev.twinbox.relay.jdbc.Position;
import dev.twinbox.relay.jdbc.PositionTable;
import dev.twinbox.relay.jdbc.Snapshot;
import dev.twinbox.relay.kafka.PositionTopic;
import dev.twinbox.relay.kafka.ProducerSettings;
import dev.twinbox.relay.pause.PauseGate;
import dev.twinbox.relay.pause.PausedTopics;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Exactly-once publication: Kafka commits a transaction after the main thread has saved its position and before this
 * thread looks again. It confirmed the position while the parked events of the transaction were undecided. The next
 * start deleted them: lost.
 */
@Tag("proof")
class Fault18UndecidedRowsIT {

    @Test
    void aPositionIsNotConfirmedWhileEventsThatItPassesAreUndecided() throws Exception {
        try (EngineRig rig = exactlyOnce()) {
            long seq = insert(rig);
            boolean settled = descheduledBetweenSaveAndConfirm(rig, seq);

            EngineRig.Running next = rig.start();
            await("the next relay").until(() -> next.progress().hasPolled());

            assertThat(rig.number("select count(*) from outbox_parked where seq = " + seq))
                    .as("the parked event")
                    .isOne();
            assertThat(rig.parkedIn(ParkedState.REFUSED)).isOne();
            assertThat(settled).as("settled while an event is undecided").isFalse();
        }
    }

    /** An earlier version could leave it. */
    @Test
    void undecidedEventsThatAConfirmedPositionHasPassedAreKept() throws Exception {
        try (EngineRig rig = exactlyOnce();
                Connection connection = rig.connect()) {
            EngineRig.Running before = rig.start();
            rig.insert(connection, "k", "sent");
            await("the event").until(() -> rig.payloads().size() == 1);
            assertThat(before.stop()).isEqualTo(ExitCode.OK);
            rig.execute("insert into outbox_parked (relay, state, decided_state, error, seq, id, topic, key, type)"
                    + " values ('relay', 'undecided', 'refused', 'e', 7, gen_random_uuid(), 't', 'k', 't')");

            EngineRig.Running next = rig.start();
            await("the next relay").until(() -> next.progress().hasPolled());

            assertThat(rig.parkedIn(ParkedState.REFUSED)).isOne();
        }
    }

    private static PausedTopics notPaused(RelayConfig config) {
        return new PausedTopics(config.parking(), new PauseGate(since -> {}));
    }

    /**
     * What a session's main thread does for one page, up to its end by SIGTERM, while the sending thread commits in the
     * middle. Returns whether all counted as settled then.
     */
    private static boolean descheduledBetweenSaveAndConfirm(EngineRig rig, long seq) throws Exception {
        RelayConfig config = rig.config();
        Progress progress = new Progress(System::nanoTime);
        try (Connection saving = rig.relayDatabase.connect()) {
            Lease lease = new LeaseCandidate(saving, config, UUID.randomUUID(), progress, new ClockCheck()).tryTake();
            LeasedTables tables = new LeasedTables(saving, config, lease);
            PositionTopic topic = new PositionTopic(
                    config,
                    new LeaseTable(saving, config.tables(), config.name())
                            .look()
                            .exactlyOnce());
            InFlight inFlight = new InFlight(config.page());
            TransactionalPages pages =
                    new TransactionalPages(inFlight, notPaused(config), lease, new Waiter(config.idle()), topic);
            BlockedKeys blocked = new BlockedKeys(new SessionConnections(rig.relayDatabase), config);
            ExactlyOnce publication = new ExactlyOnce(
                    config.name(),
                    tables,
                    topic,
                    purpose -> new KafkaProducer<>(ProducerSettings.of(config, purpose)),
                    pages,
                    blocked,
                    progress);
            PositionTable.Saved begun = publication.begin();
            OutboxRecord record = new OutboxRecord(
                    seq, new ProducerRecord<>(rig.topic, "k".getBytes(StandardCharsets.UTF_8), new byte[0]));
            Page page = new Page(List.of(record), Position.closed(now(rig)), 100);
            Thread sender = startSender(publication, record);
            inFlight.add(page);
            await("the page").until(inFlight::hasDone);
            inFlight.pollDone();

            publication.settle();
            PositionTable.Saved next = new PositionTable.Saved(begun.number() + 1, page.after());
            tables.inTransaction(() -> {
                assertThat(publication.save(next)).isTrue();
                publication.park(page.parked());
            });
            publication.recordSaved(next, List.of(page));
            await("the commit").until(() -> pages.committed().number() == next.number() && pages.isIdle());
            Position unconfirmed = publication.unconfirmed();
            if (unconfirmed != null) {
                assertThat(publication.confirm(new PositionTable.Saved(next.number() + 1, unconfirmed)))
                        .isTrue();
            }
            boolean settled = publication.isSettled();

            inFlight.seal();
            sender.join();
            publication.close();
            lease.release();
            return settled;
        }
    }

    private static Thread startSender(ExactlyOnce publication, OutboxRecord record) {
        Thread sender = new Thread(() -> {
            try {
                for (Page page = publication.next(); page != null; page = publication.next()) {
                    page.begin(new Page.Listener() {
                        @Override
                        public void done(Page done) {
                            // The test looks by itself.
                        }

                        @Override
                        public void failed(OutboxRecord failed, Exception failure) {
                            throw new AssertionError(failure);
                        }
                    });
                    page.park(record, ParkReason.refused("refused by the test"));
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        sender.start();
        return sender;
    }

    private static EngineRig exactlyOnce() throws SQLException {
        EngineRig rig = EngineRig.create().withTopic();
        rig.delivery = DeliveryMode.EXACTLY_ONCE;
        rig.createPositionTopic();
        return rig;
    }

    private static long insert(EngineRig rig) throws SQLException {
        try (Connection connection = rig.connect()) {
            rig.insert(connection, "k", "to be parked");
        }
        return rig.number("select max(seq) from outbox_event");
    }

    private static Snapshot now(EngineRig rig) throws SQLException {
        try (Connection connection = rig.connect()) {
            return Snapshot.parse(OutboxDatabaseFixture.query(connection, "select pg_current_snapshot()::text"));
        }
    }
}
