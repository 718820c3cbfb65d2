package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.inbox.app.Emitter;
import dev.twinbox.inbox.app.TimeoutHandler;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Scenario 7, TX-TIMEOUT: a handler runs longer than its transaction. Everything is committed, or nothing. */
@Tag("proof")
class Scenario07TxTimeoutIT {

    private static Database database;
    private static Topics topics;

    @BeforeAll
    static void deploy() {
        database = new Database("timeout");
        topics = new Topics();
        Servers.kafka().createTopic("timeout", 1);
        database.migrateOutbox();
        MainApp.deploy(new TestApp("timeout", database.name())
                .withOutbox()
                .withTransactionTimeout(2)
                .with(TimeoutHandler.class, Emitter.class));
    }

    @AfterAll
    static void undeploy() {
        Servers.payara().undeploy("timeout");
        topics.close();
    }

    @Test
    void allOrNothingAndTheOthersSucceed() {
        String slow = Topics.id();
        // Its first calls go on until their transaction has timed out.
        topics.send("timeout", slow, "", 2);
        topics.sendMany("timeout", 0, 20);

        await().atMost(MainApp.LIMIT.multipliedBy(2))
                .untilAsserted(
                        () -> assertThat(topics.lag("timeout", "timeout")).isZero());
        assertThat(database.calls(TimeoutHandler.TIMED_OUT, slow))
                .as("calls whose transaction timed out")
                .isEqualTo(2);
        assertThat(database.calls("timeout-first", slow)).isEqualTo(3);

        // If the machine stands still for two seconds, other handlers hit the timeout too. Their events may be parked
        // for a while.
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(database.count("inbox_event")).isEqualTo(21));
        assertThat(database.count("inbox_parked")).isZero();
        assertThat(database.effects("timeout-first"))
                .hasSize(21)
                .doesNotHaveDuplicates()
                .contains(slow);
        assertThat(database.effects("timeout-second"))
                .hasSize(21)
                .doesNotHaveDuplicates()
                .contains(slow);
        assertThat(database.texts("select key from outbox_event"))
                .hasSize(21)
                .doesNotHaveDuplicates()
                .contains(slow);
        // Afterwards no session of the receiver is in a transaction.
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(
                                database.count("pg_stat_activity where datname = 'timeout' and state like 'idle in%'"))
                        .isZero());
        MainApp.awaitNoTrouble("timeout");
    }
}
