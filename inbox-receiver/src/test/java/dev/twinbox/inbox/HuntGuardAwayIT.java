package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.TcpProxy;
import java.time.Duration;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Hunt: the guards' database is reached by a line of its own, which fails. */
@Tag("proof")
@org.junit.jupiter.api.TestMethodOrder(org.junit.jupiter.api.MethodOrderer.OrderAnnotation.class)
class HuntGuardAwayIT {

    private static TcpProxy line;
    private static GuardedPair pair;
    private static Database database;

    @BeforeAll
    static void deployTwo() {
        line = TcpProxy.to("127.0.0.1", Servers.postgres().port());
        pair = new GuardedPair(
                "hunt_guard_away",
                app -> app.withLocksAt(Servers.postgres().jdbcUrl("hunt_guard_away", line) + "?user="
                        + Servers.postgres().user() + "&password=" + Servers.postgres().password()));
        database = pair.database();
    }

    @AfterAll
    static void undeploy() {
        line.heal();
        pair.close();
        line.close();
    }

    @Test
    @org.junit.jupiter.api.Order(2)
    void aLineThatIsCut() {
        line.cut();
        try {
            String id = pair.sendFree(0, "order");
            pair.awaitHandled();
            assertThat(pair.effects("guarded", id)).isEqualTo(1);
        } finally {
            line.heal();
        }
        String next = pair.sendFree(0, "order");
        pair.awaitHandled();
        assertThat(pair.effects("guarded", next)).isEqualTo(1);
    }

    /** "If the locks do not work, handlers go on without them." */
    @Test
    @org.junit.jupiter.api.Order(1) // a pool whose connections are broken answers at once
    void aLineThatSwallowsAllThatIsSent() {
        pair.sendFree(0, "order");
        pair.awaitHandled();
        String warm = Servers.payara().log();
        assertThat(warm).doesNotContain("Locks do not work");
        int before = Servers.payara().log().length();
        line.blackHole();
        try {
            String id = pair.sendFree(0, "order");
            long begun = System.nanoTime();
            try {
                await().atMost(Duration.ofSeconds(100)).until(() -> pair.effects("guarded", id) == 1);
                System.out.println("GUARD AWAY: handled after " + (System.nanoTime() - begun) / 1_000_000 + " ms");
            } catch (ConditionTimeoutException e) {
                System.out.println("GUARD AWAY: not handled; the log since: "
                        + Servers.payara().log().substring(before));
                System.out.println("GUARD AWAY: status "
                        + Servers.payara().get("/hunt_guard_away-a/status") + " and "
                        + Servers.payara().get("/hunt_guard_away-b/status"));
                throw e;
            }
        } finally {
            line.heal();
        }
        pair.awaitHandled();
    }
}
