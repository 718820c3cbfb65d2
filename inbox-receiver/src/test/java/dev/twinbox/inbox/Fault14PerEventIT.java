package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.inbox.app.SharedHandlers;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Two events of a batch share a persistence context. If one changes a row by a bulk statement and the other one by its
 * entity, a change is lost. A handler could not choose a transaction for each event.
 */
class Fault14PerEventIT {

    private static final String APP = "sharing";

    private static Database database;
    private static Topics topics;

    @BeforeAll
    static void deploy() {
        database = new Database(APP);
        topics = new Topics();
        Servers.kafka().createTopic("batch", 1);
        Servers.kafka().createTopic("per-event", 1);
        MainApp.deploy(new TestApp(APP, database.name()).with(SharedHandlers.class));
    }

    @AfterAll
    static void undeploy() {
        Servers.payara().undeploy(APP);
        topics.close();
    }

    @Test
    void aHandlerMayHaveATransactionForEachEventAndABatchIsTheDefault() {
        String[] ids = Stream.generate(Topics::id).limit(20).toArray(String[]::new);
        topics.sendTogether("batch", ids);
        topics.sendTogether("per-event", ids);
        MainApp.awaitLagZero(APP, "batch");
        MainApp.awaitLagZero(APP, "per-event");

        assertThat(database.effects("batch")).containsExactly(ids);
        assertThat(database.effects("per-event")).containsExactly(ids);
        assertThat(transactions("batch")).isEqualTo(1);
        assertThat(transactions("per-event")).isEqualTo(ids.length);
    }

    private static long transactions(String handler) {
        return Long.parseLong(database.texts("select count(distinct xmin::text) from effect where handler = ?", handler)
                .get(0));
    }
}
