package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.inbox.app.PlainHandlers;
import org.jboss.arquillian.container.test.api.Deployment;
import org.jboss.arquillian.container.test.api.RunAsClient;
import org.jboss.arquillian.junit5.ArquillianExtension;
import org.jboss.shrinkwrap.api.spec.WebArchive;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The receiver in a Payara Micro started by {@code java -jar}, as users start it.
 *
 * <p>The other tests kill, pause and inspect their server. So they start it by a main class of their own, from an
 * unpacked Payara, which loads its own jars in another way.
 */
@Tag("proof")
@ExtendWith(ArquillianExtension.class)
@RunAsClient
class ReceivingOnPayaraMicroIT {

    private static final String APP = "micro";

    private static final Database DATABASE = new Database(APP);
    private static final Topics TOPICS = new Topics();

    @Deployment(testable = false)
    static WebArchive application() {
        Servers.kafka().createTopic(APP, 1);
        return new TestApp(APP, DATABASE.name())
                .with(PlainHandlers.class, PlainHandlers.Plain.class)
                .archive();
    }

    @Test
    void aPlainRecordIsReadByHandlersOfEveryShape() {
        String id = Topics.id();

        TOPICS.send(APP, id);
        awaitLagZero();

        assertThat(DATABASE.effects("micro")).containsOnlyOnce(id);
        assertThat(DATABASE.effects("micro-list")).containsOnlyOnce(id);
    }

    @ParameterizedTest
    @ValueSource(strings = {"checked", "error", "runtime", "business"})
    void scenario6CHECKEDEXWhateverIsThrownLeavesNothingAndIsTriedAgain(String thrown) {
        String id = Topics.id();

        TOPICS.send(APP, id, thrown, 2);
        awaitLagZero();

        assertThat(DATABASE.effects("micro")).containsOnlyOnce(id);
        assertThat(DATABASE.calls("micro", id)).isEqualTo(3);
    }

    @Test
    void scenario10DUP25P02ARepetitionIsSkipped() {
        String id = Topics.id();

        TOPICS.sendTogether(APP, id, id);
        TOPICS.send(APP, id);
        awaitLagZero();

        assertThat(DATABASE.effects("micro")).containsOnlyOnce(id);
        assertThat(DATABASE.calls("micro", id)).isEqualTo(1);
        assertThat(DATABASE.count("inbox_event where event_id = ?", id)).isEqualTo(2);
    }

    private static void awaitLagZero() {
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(TOPICS.lag(APP, APP)).isZero());
    }
}
