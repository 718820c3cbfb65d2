package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.RelayProcess;
import dev.twinbox.relay.config.ExitCode;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** SHUTDOWN: SIGTERM settles what is in flight and ends with 0, even if a server is down. */
@Tag("proof")
class Scenario54ShutdownIT {
    private static final Duration PERIOD = Duration.ofSeconds(20);

    /** Short leases. The lease cannot be released while a server is down, so the next start waits for its end. */
    private static final Map<String, String> IMPATIENT =
            Map.of("twinbox.relay.shutdown-timeout", "PT3S", "twinbox.relay.lease", "PT5S");

    @AfterEach
    void resume() {
        RelayRig.KAFKA.resume();
        RelayRig.POSTGRES.resume();
    }

    @Test
    void sigtermUnderLoadEndsWith0AndNothingIsSentTwiceAfterTheNextStart() throws SQLException {
        try (RelayRig rig = RelayRig.create()) {
            RelayProcess relay = rig.startRelay(Map.of());
            try (BusinessLoad load = BusinessLoad.start(rig, 4)) {
                for (int i = 0; i < 3; i++) {
                    rig.awaitRecords(rig.recordCount() + 100);
                    assertThat(terminate(relay)).isLessThan(PERIOD);
                    assertThat(rig.count("select count(*) from " + rig.tables().lease() + " where owner is null"))
                            .as("a released lease")
                            .isOne();
                    relay.start();
                }
                assertThat(load.commits()).isPositive();
            }
            rig.assertExact();
            assertThat(rig.recordCount())
                    .isEqualTo(rig.count("select count(*) from " + rig.tables().events()));
            assertThat(relay.log()).doesNotContain("\tat ");
        }
    }

    @Test
    void aSecondSigtermChangesNothing() throws SQLException {
        try (RelayRig rig = RelayRig.create()) {
            RelayProcess relay = rig.startRelay(Map.of());
            rig.insertAndCommit(10);
            rig.awaitRecords(10);

            ProcessHandle handle = ProcessHandle.of(relay.pid()).orElseThrow();
            handle.destroy();
            handle.destroy();
            handle.destroy();

            assertThat(relay.awaitExit(PERIOD.multipliedBy(3))).as(relay.log()).isZero();
            assertThat(relay.log()).doesNotContain("\tat ").contains("Stopped at position");
            rig.assertExact();
        }
    }

    @Test
    void sigtermWhileKafkaDoesNotAnswerEndsWith0InTimeAndLosesNothing() throws SQLException {
        try (RelayRig rig = RelayRig.create()) {
            RelayProcess relay = rig.startRelay(IMPATIENT);
            RelayRig.KAFKA.pause();
            rig.insertAndCommit(20);
            awaitInFlight(relay, 20);

            assertThat(terminate(relay)).isLessThan(PERIOD);

            RelayRig.KAFKA.resume();
            relay.start();
            rig.assertExact();
        }
    }

    @Test
    void sigtermWhilePostgresqlDoesNotAnswerEndsInTimeAndLosesNothing() throws SQLException {
        try (RelayRig rig = RelayRig.create()) {
            RelayProcess relay = rig.startRelay(IMPATIENT);
            rig.insertAndCommit(20);
            rig.awaitRecords(20);
            RelayRig.POSTGRES.pause();
            assertThatThrownBy(() -> RelayRig.POSTGRES.connect("postgres", Duration.ofSeconds(1)))
                    .isInstanceOf(SQLException.class);

            long before = System.nanoTime();
            int exitCode = relay.terminate();
            assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(PERIOD);
            assertThat(exitCode).as(relay.log()).isIn(ExitCode.OK.number(), ExitCode.UNFINISHED.number());

            RelayRig.POSTGRES.resume();
            relay.start();
            rig.insertAndCommit(5);
            rig.assertExact();
        }
    }

    @Test
    void sigtermBeforeTheDatabaseWasEverReachedEndsWith0() throws SQLException {
        try (RelayRig rig = RelayRig.create()) {
            RelayProcess relay = rig.relay(Map.of("twinbox.relay.database.url", "jdbc:postgresql://127.0.0.1:9/shop"))
                    .start();
            await().until(() -> relay.log().contains("trying again"));

            assertThat(terminate(relay)).isLessThan(PERIOD);
        }
    }

    /** Sends SIGTERM, checks for exit code 0, and returns how long it took. */
    private static Duration terminate(RelayProcess relay) {
        long before = System.nanoTime();
        assertThat(relay.terminate()).as(relay.log()).isZero();
        return Duration.ofNanos(System.nanoTime() - before);
    }

    static void awaitInFlight(RelayProcess relay, int events) {
        await("events in flight").until(() -> RelayMetrics.of(relay).value("twinbox_relay_in_flight") >= events);
    }
}
