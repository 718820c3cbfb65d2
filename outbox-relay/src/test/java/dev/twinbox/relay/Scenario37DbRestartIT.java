package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.RelayProcess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * DB-RESTART: the relay waits out any outage of database and broker, without a restart and without a flood of log
 * lines.
 */
class Scenario37DbRestartIT {
    private static final Duration OUTAGE = Duration.ofSeconds(10);
    private static final Duration BACK = Duration.ofSeconds(30);
    private static final Duration SOON = Duration.ofSeconds(90);
    private static final int RESTARTS = 3;

    @AfterEach
    void serversAreBack() {
        RelayRig.POSTGRES.start();
        RelayRig.KAFKA.start();
    }

    @Test
    void afterEachOfSeveralRestartsUnderLoadTheRelayGoesOnAndNothingIsLost() throws Exception {
        try (RelayRig rig = RelayRig.create()) {
            RelayProcess relay = rig.startRelay(Map.of());
            long process = relay.pid();
            try (BusinessLoad load = BusinessLoad.start(rig, 3)) {
                for (int i = 0; i < RESTARTS; i++) {
                    rig.awaitRecords(rig.recordCount() + 50);
                    if (i % 2 == 0) {
                        RelayRig.POSTGRES.restart();
                    } else {
                        RelayRig.POSTGRES.kill();
                        RelayRig.POSTGRES.start();
                    }
                    relay.awaitReady(BACK);
                }
                assertThat(load.commits()).isPositive();
            }
            rig.assertExact();
            assertThat(relay.pid()).isEqualTo(process);
        }
    }

    @Test
    @Tag("proof")
    void readinessReportsALongDatabaseOutageAndItCostsOneAttemptPerSecond() throws Exception {
        try (RelayRig rig = RelayRig.create()) {
            RelayProcess relay = rig.startRelay(Map.of());
            rig.insertAndCommit(20);
            rig.assertExact();
            RelayRig.POSTGRES.stop();
            awaitDown(relay, "database");
            assertThat(RelayMetrics.get(relay, "/health/live").statusCode()).isEqualTo(200);

            long begin = System.nanoTime();
            int attempts = attemptsDuringOutage();
            assertThat(attempts).isBetween(3, secondsSince(begin) + 2);

            RelayRig.POSTGRES.start();
            relay.awaitReady(BACK);
            rig.insertAndCommit(20);
            rig.assertExact();
        }
    }

    /** Listens in place of the stopped server, and counts the connection attempts. */
    private static int attemptsDuringOutage() throws IOException, InterruptedException {
        AtomicInteger attempts = new AtomicInteger();
        ServerSocket knocks = new ServerSocket(RelayRig.POSTGRES.port(), 50, InetAddress.getByName("127.0.0.1"));
        Thread counter = new Thread(() -> count(knocks, attempts), "knocks");
        try (knocks) {
            counter.start();
            await("the outage").during(OUTAGE).until(counter::isAlive);
        }
        counter.join(); // The kernel releases the port when no thread waits in accept() any more.
        return attempts.get();
    }

    private static void count(ServerSocket knocks, AtomicInteger attempts) {
        while (true) {
            try (Socket refused = knocks.accept()) {
                attempts.incrementAndGet();
            } catch (SocketException e) {
                return; // The socket is closed: the outage is over.
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    @Test
    @Tag("proof")
    void anOutageOfBothWritesOneLinePerSecondWithTheCountOfLinesHeldBack() throws Exception {
        try (RelayRig rig = RelayRig.create()) {
            // Default log levels: the test checks what an operator gets by default.
            RelayProcess relay = rig.startRelay(Map.of());
            rig.insertAndCommit(5);
            rig.assertExact();
            RelayRig.KAFKA.kill();
            rig.insertAndCommit(50);
            // A dead broker shows as a failed send, or as records in flight without an answer.
            awaitDown(relay, "kafka|progress");
            RelayRig.POSTGRES.kill();
            awaitDown(relay, "database");

            Instant begin = Instant.now();
            long beginNanos = System.nanoTime();
            await("the outage").during(OUTAGE).until(relay::isAlive);
            List<String> lines = linesSince(relay, begin);
            int seconds = secondsSince(beginNanos);

            RelayRig.POSTGRES.start();
            RelayRig.KAFKA.start();
            rig.assertExact();
            relay.awaitReady();
            assertThat(lines).as("lines of %s seconds", seconds).hasSizeBetween(3, seconds + 2);
            assertThat(relay.log()).contains("held back");
            assertThat(relay.log()).doesNotContain("\tat ");
            assertThat(relay.terminate()).isZero();
        }
    }

    /** Rounded up. The outage may have lasted longer than planned. */
    private static int secondsSince(long nanos) {
        return (int) Duration.ofNanos(System.nanoTime() - nanos).toSeconds() + 1;
    }

    private static List<String> linesSince(RelayProcess relay, Instant begin) {
        return relay.log()
                .lines()
                .filter(line -> line.startsWith("20") && line.indexOf(' ') > 0)
                .filter(line ->
                        Instant.parse(line.substring(0, line.indexOf(' '))).isAfter(begin))
                .toList();
    }

    /** @param checks name of the check, or several names separated by a bar */
    private static void awaitDown(RelayProcess relay, String checks) {
        await(checks + " is DOWN")
                .atMost(SOON)
                .ignoreExceptions()
                .untilAsserted(() -> assertThat(
                                RelayMetrics.get(relay, "/health/ready").body())
                        .containsPattern("\"name\":\"(" + checks + ")\",\"status\":\"DOWN\"")
                        .contains("cause"));
    }
}
