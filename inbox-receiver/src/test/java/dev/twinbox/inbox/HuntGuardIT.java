package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.inbox.app.GuardedHandlers;
import dev.twinbox.inbox.server.PayaraHost;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Hunt: guarded handlers with duplicates, rebalances, kills, and the provider away. */
@Tag("proof")
class HuntGuardIT {

    private static GuardedPair pair;
    private static Database database;
    private static final String GROUP = "hunt_guard";

    private final String id = Topics.id();

    @BeforeAll
    static void deployTwo() {
        pair = new GuardedPair(GROUP, app -> app);
        database = pair.database();
    }

    @AfterAll
    static void undeploy() {
        pair.close();
    }

    private static TestApp app(String name) {
        return new TestApp(name, database.name())
                .with("twinbox.inbox.group", GROUP)
                .with(GuardedHandlers.class);
    }

    private static void send(Topics topics, int partition, String event, String action, int times) {
        topics.send("guarded", partition, event, "order", Topics.order(event, action, times));
    }

    private void assertOneEffect(String event) {
        assertThat(pair.effects("guarded", event)).as("effects of " + event).isEqualTo(1);
    }

    /** The handler of the first one takes longer than its guard. */
    @Test
    void aHandlerThatOutlivesItsGuard() {
        try (Database.Gate gate = database.shutGate(201)) {
            pair.sendToBoth(id, "order", 201);
            await().atMost(Duration.ofSeconds(60)).until(() -> pair.waitingForAClaim() == 1);
            assertThat(database.calls("guarded", id)).isEqualTo(1);
        }
        pair.awaitHandled();
        assertOneEffect(id);
    }

    /** It fails twice, and both instances have it. */
    @Test
    void aGuardedHandlerThatFailsInBothInstances() {
        try (Topics topics = new Topics()) {
            for (int i = 0; i < 3; i++) {
                send(topics, i % 2, id, "runtime", 7);
            }
            await().atMost(MainApp.LIMIT).until(() -> pair.effects("guarded", id) == 1);
            pair.awaitHandled();
            await().atMost(MainApp.LIMIT).until(() -> database.count("inbox_parked") == 0);
            assertOneEffect(id);
        }
    }

    /** A guarded event that waits: how long do other keys of its partition wait? */
    @Test
    void otherKeysGoOnWhileAnEventWaitsAtItsGuard() {
        try (Topics topics = new Topics();
                Database.Gate gate = database.shutGate(202)) {
            pair.sendToBoth(id, "order", 202);
            String free0 = Topics.id();
            String free1 = Topics.id();
            topics.add("guarded", 0, "another-key-" + free0, free0, "", 0);
            topics.add("guarded", 1, "another-key-" + free1, free1, "", 0);
            topics.flush();
            long begun = System.nanoTime();
            // wrong attack: the partition has one lane, which waits as it does without a guard
            await().atMost(Duration.ofSeconds(5))
                    .until(() -> pair.effects("guarded", free0) + pair.effects("guarded", free1) >= 1);
            System.out.println("GUARD: an event of another key behind one that waits at its guard took "
                    + (System.nanoTime() - begun) / 1_000_000 + " ms");
            assertThat(System.nanoTime() - begun).isLessThan(Duration.ofSeconds(15).toNanos());
        } finally {
            pair.awaitHandled();
        }
        assertOneEffect(id);
    }

    /** Duplicates on both partitions, while backends end and an instance comes and goes. */
    @Test
    void aStormOfDuplicatesAndRebalances() throws Exception {
        List<String> ids = new ArrayList<>();
        try (Topics topics = new Topics()) {
            for (int round = 0; round < 3; round++) {
                List<String> some = new ArrayList<>();
                for (int i = 0; i < 40; i++) {
                    String each = Topics.id();
                    some.add(each);
                    for (int copy = 0; copy < 2; copy++) {
                        topics.add("guarded", 0, "k" + i % 7, each, i % 10 == 3 ? "runtime" : "", i % 10 == 3 ? 1 : 0);
                        topics.add("guarded", 1, "k" + i % 7, each, i % 10 == 3 ? "runtime" : "", i % 10 == 3 ? 1 : 0);
                    }
                }
                topics.flush();
                ids.addAll(some);
                if (round < 2) {
                    MainApp.deploy(app("hunt-guest" + round));
                    database.execute("select pg_terminate_backend(pid) from pg_stat_activity where backend_type = "
                            + "'client backend' and pid <> pg_backend_pid() and datname = current_database()");
                    Servers.payara().undeploy("hunt-guest" + round);
                }
            }
            pair.awaitHandled();
            await().atMost(MainApp.LIMIT).until(() -> database.count("inbox_parked") == 0);
            for (String each : ids) {
                assertOneEffect(each);
            }
        }
    }

    /** Its process is killed within the handler; the event's lock is nobody's. */
    @Test
    void anInstanceThatIsKilledWithinAGuardedHandler() throws Exception {
        Servers.payara().undeploy(GROUP + "-b");
        PayaraHost doomed = Servers.newPayara();
        try (Topics topics = new Topics()) {
            doomed.deploy("hunt-doomed", app("hunt-doomed").build());
            await().atMost(MainApp.LIMIT).untilAsserted(() -> assertThat(topics.owners(GROUP, "guarded")).hasSize(2));
            String other = Topics.id();
            try (Database.Gate gate = database.shutGate(203)) {
                send(topics, 0, id, "gate:203", 1);
                send(topics, 1, other, "gate:203", 1);
                await().atMost(MainApp.LIMIT).until(() -> database.waiting(203) == 2);
                // both at the gate: one of the two is the doomed one's
                doomed.close();
            }
            long begun = System.nanoTime();
            await().atMost(Duration.ofSeconds(120))
                    .until(() -> pair.effects("guarded", id) == 1 && pair.effects("guarded", other) == 1);
            System.out.println("GUARD: taken over after " + (System.nanoTime() - begun) / 1_000_000 + " ms");
            pair.awaitHandled();
            assertOneEffect(id);
            assertOneEffect(other);
        } finally {
            doomed.close();
            MainApp.deploy(app(GROUP + "-b"));
        }
    }
}
