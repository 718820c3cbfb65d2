package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.relay.OutboxDatabaseFixture;
import dev.twinbox.relay.config.ExitCode;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** FIRST-SEQ: concurrent first events of a new key need no counter that must be created first. */
@Tag("proof")
class Scenario18FirstSeqIT {
    private static final int WRITERS = 50;

    @ParameterizedTest
    @ValueSource(ints = {Connection.TRANSACTION_READ_COMMITTED, Connection.TRANSACTION_REPEATABLE_READ})
    void fiftyConcurrentFirstEventsOfAKeyAllCommitAndNoneWaits(int isolation) throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection bystander = rig.connect()) {
            bystander.setAutoCommit(false);
            rig.insert(bystander, "new key", "not committed while the others are"); // would block a counter of the key
            CyclicBarrier together = new CyclicBarrier(WRITERS);
            ExecutorService threads = Executors.newFixedThreadPool(WRITERS);
            try {
                List<Future<?>> writers = new ArrayList<>();
                for (int i = 0; i < WRITERS; i++) {
                    int number = i;
                    writers.add(threads.submit(() -> write(rig, isolation, number, together)));
                }
                for (Future<?> writer : writers) {
                    writer.get(60, TimeUnit.SECONDS);
                }
            } finally {
                threads.shutdownNow();
            }
            bystander.rollback();
            assertThat(rig.number("select count(distinct seq) from outbox_event"))
                    .isEqualTo(WRITERS);
            EngineRig.Running relay = rig.start();
            rig.assertExact();
            assertThat(relay.stop()).isEqualTo(ExitCode.OK);
        }
    }

    private static Void write(EngineRig rig, int isolation, int number, CyclicBarrier together) throws Exception {
        try (Connection connection = rig.connect()) {
            connection.setTransactionIsolation(isolation);
            connection.setAutoCommit(false);
            OutboxDatabaseFixture.execute(connection, "set local lock_timeout = '20s'");
            together.await(60, TimeUnit.SECONDS);
            rig.insert(connection, "new key", "event " + number);
            connection.commit();
        } catch (SQLException e) {
            throw new AssertionError("writer " + number + " failed with " + e.getSQLState(), e);
        }
        return null;
    }
}
