package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.CloudEventHeaders;
import dev.twinbox.inbox.app.RightHandlers;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Handlers that are right were refused: the bridge method of a generic interface, a method that is annotated where it is
 * overridden too, an alternative that is not enabled. Beside them are the members that a handler's events lack (fault 26),
 * and a method that permits what its class forbids (fault 28).
 */
@Tag("proof")
class Fault29RightHandlersIT {

    private static final String APP = "right";

    private static Topics topics;
    private static Database database;

    @BeforeAll
    static void deploy() {
        database = new Database(APP);
        topics = new Topics();
        Servers.kafka().createTopic("right", 1);
        Servers.kafka().createTopic("amounts", 1);
        MainApp.deploy(new TestApp(APP, database.name())
                .with(RightHandlers.class)
                .with(RightHandlers.class.getDeclaredClasses()));
    }

    @AfterAll
    static void undeploy() {
        Servers.payara().undeploy(APP);
        topics.close();
    }

    @Test
    void handlersThatAreRightAreDeployedAndCalledOnce() {
        String id = Topics.id();

        topics.send("right", id);
        settle("right");

        for (String handler : new String[] {"bridged", "bridgedEjb", "overridden", "permitted"}) {
            assertThat(database.effects(handler)).as(handler).containsExactly(id);
        }
        assertThat(database.count("inbox_event where event_id = ?", id)).isEqualTo(4);
    }

    @Test
    void fault26AnAbsentPrimitiveIsParkedWithItsNameUnlessTheHandlerOptsOut() {
        sendAmount("{\"id\":\"a\",\"orderId\":5,\"amount\":1,\"more\":[{}]}");
        sendAmount("{\"id\":\"b\",\"order_id\":5,\"amount\":1}");
        sendAmount("{\"id\":\"c\",\"orderId\":5,\"amount\":3000000000}");
        sendAmount("{\"orderId\":5,\"amount\":1}");
        settle("amounts");

        assertThat(database.effects("strict")).containsExactlyInAnyOrder("a 5 1", "null 5 1");
        assertThat(database.effects("lenient")).containsExactlyInAnyOrder("a 5", "b 0", "c 5", "null 5");
        assertThat(
                        database.texts(
                                "select state || ' ' || handler || ' ' || error from inbox_parked where topic = 'amounts' order by number"))
                .satisfiesExactly(
                        text -> assertThat(text).startsWith("dead strict").contains("member orderId is missing"),
                        text -> assertThat(text)
                                .startsWith("dead strict")
                                .contains("member amount is 3000000000", "-2147483648 to 2147483647"));
    }

    private static void sendAmount(String value) {
        // Each with a key of its own: none waits for another one that is dead.
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>("amounts", 0, bytes(Topics.id()), bytes(value));
        record.headers().add(CloudEventHeaders.ID, bytes(Topics.id())).add(CloudEventHeaders.TYPE, bytes("amount"));
        topics.send(record);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static void settle(String topic) {
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(topics.lag(APP, topic)).isZero());
    }
}
