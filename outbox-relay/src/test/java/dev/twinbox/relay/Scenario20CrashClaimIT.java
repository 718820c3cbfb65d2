package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.RelayProcess;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** CRASH-CLAIM: the lease of a killed relay is free after its end, and no operator has to change a table. */
@Tag("proof")
class Scenario20CrashClaimIT {
    private static final Duration LEASE = Duration.ofSeconds(2);
    /** Added to the lease: the start of the JVM on a busy machine. */
    private static final Duration START = Duration.ofSeconds(60);

    // Small pages, so that kills meet all stages of reading, sending and saving.
    private static final Map<String, String> CONFIG =
            Map.of("twinbox.relay.lease", LEASE.toString(), "twinbox.relay.page.rows", "50");

    @Test
    void aRelayKilled20TimesUnderLoadLosesNothingAndKeepsEachKeysOrder() throws SQLException {
        killUnderLoad(20);
    }

    @Test
    void aRelayKilledUnderLoadLosesNothingAndKeepsEachKeysOrder() throws SQLException {
        killUnderLoad(3);
    }

    private static void killUnderLoad(int kills) throws SQLException {
        try (RelayRig rig = RelayRig.create()) {
            RelayProcess relay = rig.relay(CONFIG).start();
            try (BusinessLoad load = BusinessLoad.start(rig, 1)) {
                for (int i = 0; i < kills; i++) {
                    awaitMore(rig, ThreadLocalRandom.current().nextInt(1, 300));
                    relay.kill();
                    relay.start();
                }
                awaitMore(rig, 1);
                assertThat(load.commits()).isPositive();
            }
            rig.assertExact();
            assertThat(relay.terminate()).as(relay.log()).isZero();
            assertThat(rig.count("select count(*) from " + rig.tables().lease() + " where owner is not null"))
                    .as("leases still claimed")
                    .isZero();
        }
    }

    private static void awaitMore(RelayRig rig, int records) {
        long goal = rig.recordCount() + records;
        await(records + " more records")
                .atMost(LEASE.plus(START))
                .pollInterval(Duration.ofMillis(50))
                .until(() -> rig.recordCount() >= goal);
    }

    @Test
    void aStandbyTakesThePlaceOfAKilledOwnerWhenTheLeaseEnds() throws SQLException {
        Duration lease = Duration.ofSeconds(5); // the default
        try (RelayRig rig = RelayRig.create()) {
            RelayProcess first = rig.startRelay(leaseOf(lease));
            RelayProcess second = rig.relay(leaseOf(lease)).start();
            awaitStandby(second);

            first.kill();
            // The machine may stall in between, but a successor that waits for a second lease to end is late.
            assertThat(takeOver(rig)).isLessThan(lease.multipliedBy(2));
            second.terminate();
            rig.assertExact();
        }
    }

    @Test
    void aStandbyReplacesAStoppedOwnerBeforeTheEndOfTheLease() throws SQLException {
        Duration lease = Duration.ofMinutes(2);
        try (RelayRig rig = RelayRig.create()) {
            RelayProcess first = rig.startRelay(leaseOf(lease));
            RelayProcess second = rig.relay(leaseOf(lease)).start();
            awaitStandby(second);

            assertThat(first.terminate()).as(first.log()).isZero();
            assertThat(takeOver(rig)).isLessThan(lease.dividedBy(4));
            rig.assertExact();
        }
    }

    private static Map<String, String> leaseOf(Duration length) {
        return Map.of("twinbox.relay.lease", length.toString());
    }

    static void awaitStandby(RelayProcess relay) {
        await("standing by").until(() -> relay.log().lines().anyMatch(line -> line.contains("standing by")));
    }

    /** How long an event that is written now waits for its relay. */
    private static Duration takeOver(RelayRig rig) throws SQLException {
        long before = System.nanoTime();
        rig.insertAndCommit(1);
        long goal = rig.count("select count(*) from " + rig.tables().events());
        await("the successor's first acknowledgement")
                .pollInterval(Duration.ofMillis(20))
                .until(() -> rig.recordCount() >= goal);
        return Duration.ofNanos(System.nanoTime() - before);
    }
}
