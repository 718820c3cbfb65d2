package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.CloudEventHeaders;
import dev.twinbox.inbox.app.Emitter;
import dev.twinbox.inbox.app.EmittingHandlers;
import java.util.List;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Events that handlers publish are committed with the effect, once, and name the event that caused them. */
@Tag("proof")
class EmittingHandlersIT {

    private static final String APP = "emitting";
    private static final String TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    private static final String ROWS = "from outbox_event where type = ? order by seq";

    private static Database database;
    private static Topics topics;

    @BeforeAll
    static void deploy() {
        database = new Database(APP);
        database.migrateOutbox();
        topics = new Topics();
        Servers.kafka().createTopic(APP, 1);
        MainApp.deploy(new TestApp(APP, database.name()).withOutbox().with(EmittingHandlers.class, Emitter.class));
    }

    @AfterAll
    static void undeploy() {
        Servers.payara().undeploy(APP);
        topics.close();
    }

    @BeforeEach
    void clean() {
        database.execute("truncate outbox_event");
    }

    @Test
    void anEventIsPublishedOnceHoweverOftenItsHandlerFailedAndItsCauseIsDeliveredAgain() {
        String id = Topics.id();
        topics.send(APP, id, "runtime", 2);
        awaitLagZero();
        assertThat(database.calls(APP, id)).isEqualTo(3);
        assertThat(keys("order.emitted")).containsExactly(id);

        topics.send(APP, id);
        awaitLagZero();

        assertThat(MainApp.status(APP, "duplicates")).isPositive();
        assertThat(keys("order.emitted")).containsExactly(id);
        assertThat(database.effects(APP)).containsOnlyOnce(id);
        // An event published with an effect that was rolled back does not exist either.
        assertThat(database.count("outbox_event")).isEqualTo(2); // and those of the list handler
    }

    @Test
    void anEventCarriesOnCauseCorrelationAndTraceOfTheOneBeingHandled() {
        String first = Topics.id();
        topics.send(APP, first);
        awaitLagZero();
        assertThat(header("order.emitted", CloudEventHeaders.CAUSATION_ID)).containsExactly(first);
        assertThat(header("order.emitted", CloudEventHeaders.CORRELATION_ID)).containsExactly(first);
        assertThat(header("order.emitted", CloudEventHeaders.TRACE_PARENT)).containsExactly(TRACE);

        database.execute("truncate outbox_event");
        String later = Topics.id();
        ProducerRecord<byte[], byte[]> record = record(later, "order");
        record.headers()
                .add(CloudEventHeaders.CORRELATION_ID, Topics.bytes("the whole story"))
                .add("ce_traceparent", Topics.bytes(TRACE))
                .add("ce_tracestate", Topics.bytes("vendor=1"));
        topics.send(record);
        awaitLagZero();
        assertThat(header("order.emitted", CloudEventHeaders.CAUSATION_ID)).containsExactly(later);
        assertThat(header("order.emitted", CloudEventHeaders.CORRELATION_ID)).containsExactly("the whole story");
        assertThat(header("order.emitted", CloudEventHeaders.TRACE_PARENT)).containsExactly(TRACE);
        assertThat(header("order.emitted", CloudEventHeaders.TRACE_STATE)).containsExactly("vendor=1");
    }

    @Test
    void whatAnotherProducerPutThereDoesNotStopTheHandler() {
        String id = Topics.id();
        ProducerRecord<byte[], byte[]> record = record(id, "order");
        record.headers()
                .add(CloudEventHeaders.CORRELATION_ID, Topics.bytes("a\0b"))
                .add(CloudEventHeaders.TRACE_PARENT, Topics.bytes("x".repeat(100_000)))
                .add(CloudEventHeaders.TRACE_STATE, null);
        topics.send(record);
        ProducerRecord<byte[], byte[]> malformed = record(Topics.id(), "order");
        malformed
                .headers()
                .add(CloudEventHeaders.TRACE_PARENT, Topics.bytes(TRACE.replace("b7ad6b7169203331", "no span at all")));
        topics.send(malformed);
        awaitLagZero();

        assertThat(database.calls(APP, id)).isEqualTo(1);
        assertThat(header("order.emitted", CloudEventHeaders.CORRELATION_ID)).contains(id);
        assertThat(header("order.emitted", CloudEventHeaders.TRACE_PARENT))
                .hasSize(2)
                .containsOnlyNulls();
    }

    @Test
    void inABatchEachEventIsTheCauseOfItsOwnAndAListOfNone() {
        String[] ids = {Topics.id(), Topics.id(), Topics.id()};
        topics.sendTogether(APP, ids);
        awaitLagZero();

        assertThat(keys("order.emitted")).containsExactly(ids);
        assertThat(header("order.emitted", CloudEventHeaders.CAUSATION_ID)).containsExactly(ids);
        assertThat(header("list.emitted", CloudEventHeaders.CAUSATION_ID)).containsOnlyNulls();
        assertThat(header("list.emitted", CloudEventHeaders.CORRELATION_ID)).containsOnlyNulls();
    }

    @Test
    void whatTheApplicationSaysItselfStays() {
        ProducerRecord<byte[], byte[]> record = record(Topics.id(), "own");
        record.headers()
                .add(CloudEventHeaders.CORRELATION_ID, Topics.bytes("theirs"))
                .add(CloudEventHeaders.TRACE_PARENT, Topics.bytes(TRACE))
                .add(CloudEventHeaders.TRACE_STATE, Topics.bytes("vendor=1"));
        topics.send(record);
        awaitLagZero();

        assertThat(keys("own.emitted")).containsExactly("theirs");
        assertThat(header("own.emitted", CloudEventHeaders.CORRELATION_ID)).containsExactly("correlation of mine");
        assertThat(header("own.emitted", CloudEventHeaders.CAUSATION_ID)).containsExactly("cause of mine");
        assertThat(header("own.emitted", CloudEventHeaders.TRACE_PARENT)).containsExactly("trace of mine");
        assertThat(header("own.emitted", CloudEventHeaders.TRACE_STATE)).containsOnlyNulls();
    }

    private static ProducerRecord<byte[], byte[]> record(String id, String type) {
        ProducerRecord<byte[], byte[]> record =
                new ProducerRecord<>(APP, 0, null, Topics.bytes(Topics.order(id, "", 0)));
        record.headers().add(CloudEventHeaders.ID, Topics.bytes(id)).add(CloudEventHeaders.TYPE, Topics.bytes(type));
        return record;
    }

    private static List<String> keys(String type) {
        return database.texts("select key " + ROWS, type);
    }

    private static List<String> header(String type, String name) {
        return database.texts("select headers[array_position(headers, '" + name + "') + 1] " + ROWS, type);
    }

    private static void awaitLagZero() {
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(topics.lag(APP, APP)).isZero());
    }
}
