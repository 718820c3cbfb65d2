package dev.twinbox.inbox;

import static dev.twinbox.inbox.ParallelApp.LIMIT;
import static dev.twinbox.inbox.ParallelApp.MOVING;
import static dev.twinbox.inbox.ParallelApp.awaitLagZero;
import static dev.twinbox.inbox.ParallelApp.database;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.inbox.server.PayaraHost;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Three instances on two servers. One server is paused and killed while members come and go. */
@Tag("proof")
class RebalanceStormIT {

    private static final String FIRST = "storm-a";
    private static final String SECOND = "storm-b";
    private static final String THIRD = "storm-c";
    private static final Duration STORM = Duration.parse(System.getProperty("twinbox.it.rebalances", "PT3M"));
    private static final Duration BETWEEN_REBALANCES = Duration.ofSeconds(5);

    /** Longer than {@code session.timeout.ms} (6 s) and {@code max.poll.interval.ms} (8 s). */
    private static final Duration PAUSE = ParallelApp.MAX_POLL_INTERVAL.plusSeconds(4);

    private static PayaraHost victim;
    private static int pauses;
    private static int kills;

    @BeforeAll
    static void deploy() {
        MainApp.deploy(ParallelApp.instance(FIRST));
        MainApp.deploy(ParallelApp.instance(SECOND));
        startVictim();
    }

    @AfterAll
    static void undeploy() {
        victim.close();
        Servers.payara().undeploy(FIRST);
        Servers.payara().undeploy(SECOND);
    }

    private static void startVictim() {
        victim = Servers.newPayara();
        victim.deploy(THIRD, ParallelApp.instance(THIRD).build());
    }

    @Test
    void killsPausesAndRebalancesForThreeMinutesLeaveTheLedgerExact() {
        Sent sent = new Sent(MOVING);
        int rebalances = 0;
        long end = System.nanoTime() + STORM.toNanos();
        try (Load load = new Load(sent)) {
            load.awaitStarted();
            CompletableFuture<Void> faults = CompletableFuture.runAsync(() -> pauseAndKillUntil(end));
            while (System.nanoTime() < end) {
                long next = System.nanoTime() + BETWEEN_REBALANCES.toNanos();
                ParallelApp.passThrough();
                rebalances++;
                LockSupport.parkNanos(next - System.nanoTime()); // a rate, not a wait
            }
            faults.join(); // a failure of that thread is thrown here
        }
        awaitLagZero(MOVING);

        System.out.println("Storm of " + STORM + ": " + rebalances + " members came and went, " + pauses + " pauses, "
                + kills + " kills, "
                + sent.ids.values().stream().mapToInt(ids -> ids.size()).sum() + " events");
        assertThat(pauses).isPositive();
        assertThat(kills).isPositive();
        sent.assertExact();
        ParallelApp.assertAtLeastOnceInOrder(sent);
    }

    private static void pauseAndKillUntil(long end) {
        while (System.nanoTime() < end) {
            awaitAtWork();
            victim.pause();
            LockSupport.parkNanos(PAUSE.toNanos()); // during that time it does not poll and sends no heartbeat
            victim.resume();
            pauses++;
            awaitAtWork();
            victim.close();
            kills++;
            startVictim();
        }
    }

    /** Waits until a handler of any server is in the middle of a batch. */
    private static void awaitAtWork() {
        await().atMost(LIMIT)
                .until(() -> database()
                                .count("pg_stat_activity where datname = 'parallel' and query like '%pg_sleep%'"
                                        + " and state = 'active' and pid <> pg_backend_pid()")
                        > 0);
    }
}
