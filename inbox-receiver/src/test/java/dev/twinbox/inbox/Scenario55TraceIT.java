package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.CloudEventHeaders;
import dev.twinbox.fixtures.OtlpReceiver;
import dev.twinbox.fixtures.ToldSpan;
import dev.twinbox.inbox.app.Emitter;
import dev.twinbox.inbox.app.TracedHandlers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Scenario 55, TRACE, the application's side: a handler and the events it publishes continue the trace of their event.
 * That holds through retries and parking. The relay has a test of the same name.
 */
@Tag("proof")
class Scenario55TraceIT {

    private static final String APP = "traced";
    private static final String PROCESS = "process " + APP;
    private static final int ATTEMPTS = 3;

    /** Id of the span in which the test's events are created. */
    private static final String SENDER = "b7ad6b7169203331";

    private static OtlpReceiver collector;
    private static Database database;
    private static Topics topics;
    private static int traces;

    @BeforeAll
    static void deploy() {
        collector = OtlpReceiver.start();
        database = new Database(APP);
        database.migrateOutbox();
        topics = new Topics();
        Servers.kafka().createTopic(APP, 1);
        TestApp app = app();
        collector.settings().forEach(app::with);
        MainApp.deploy(app);
    }

    @AfterAll
    static void undeploy() {
        Servers.payara().undeploy(APP);
        topics.close();
        collector.close();
    }

    private static TestApp app() {
        return new TestApp(APP, database.name())
                .withOutbox()
                .with(TracedHandlers.class, Emitter.class)
                .with("twinbox.inbox.quick-tries", "1")
                .with("twinbox.inbox.parked.attempts", Integer.toString(ATTEMPTS))
                .with("twinbox.inbox.parked.retry.initial", "PT0.1S")
                .with("twinbox.inbox.parked.retry.max", "PT0.2S");
    }

    @BeforeEach
    void clean() {
        database.execute("truncate outbox_event");
    }

    @Test
    void theHandlerAndTheEventThatItPublishesGoOnWithTheTraceOfTheEvent() {
        String trace = newTrace();
        String id = send("order", "", 0, parent(trace), "vendor=1");
        awaitLagZero();

        ToldSpan process = awaitSpans(id, "process", 1).get(0);
        assertThat(process.name()).isEqualTo(PROCESS);
        assertThat(process.kind()).isEqualTo("CONSUMER");
        assertThat(process.trace()).isEqualTo(trace);
        assertThat(process.parent()).isEqualTo(SENDER);
        assertThat(process.links()).containsExactly(trace + "-" + SENDER);
        assertThat(process.failed()).isFalse();
        assertThat(process.service()).isEqualTo(APP);
        assertThat(process.attributes())
                .containsEntry("messaging.system", "kafka")
                .containsEntry("messaging.operation.name", "process")
                .containsEntry("messaging.operation.type", "process")
                .containsEntry("messaging.destination.name", APP)
                .containsEntry("messaging.destination.partition.id", "0")
                .containsEntry("messaging.consumer.group.name", APP)
                .containsEntry("messaging.kafka.message.key", "key")
                .containsEntry("cloudevents.event_type", "order")
                .containsEntry("twinbox.handler", "traced")
                .containsKey("messaging.kafka.offset");

        String followUp = database.texts("select id::text from outbox_event").get(0);
        ToldSpan create = awaitSpans(followUp, "create", 1).get(0);
        assertThat(create.name()).isEqualTo("create out");
        assertThat(create.kind()).isEqualTo("PRODUCER");
        assertThat(create.trace()).isEqualTo(trace);
        assertThat(create.parent()).isEqualTo(process.id());
        assertThat(header(id, CloudEventHeaders.TRACE_PARENT)).isEqualTo("00-" + trace + "-" + create.id() + "-01");
        assertThat(header(id, CloudEventHeaders.TRACE_STATE)).isEqualTo("vendor=1");
    }

    @Test
    void baggageGoesAlong() {
        ProducerRecord<byte[], byte[]> record = record(Topics.id(), "order", "", 0);
        record.headers()
                .add(CloudEventHeaders.TRACE_PARENT, Topics.bytes(parent(newTrace())))
                .add("baggage", Topics.bytes("tenant=42"));
        String id = send(record);
        awaitLagZero();

        assertThat(header(id, "baggage")).isEqualTo("tenant=42");
    }

    @Test
    void attemptsParkingAndRetriesKeepTheTraceAndFailuresSaySo() {
        String trace = newTrace();
        String id = send("order", "runtime", ATTEMPTS + 1, parent(trace), null); // once in a batch
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(database.texts("select state from inbox_parked where event_id = ?", id))
                        .containsExactly("dead"));
        assertThat(Servers.payara().get("/traced/status?retry=" + number(id))).startsWith("true");
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(database.effects("traced")).contains(id));

        List<ToldSpan> spans = awaitSpans(id, "process", (int) database.calls("traced", id));
        assertThat(spans).hasSizeGreaterThan(ATTEMPTS);
        assertThat(spans).allSatisfy(span -> {
            assertThat(span.trace()).isEqualTo(trace);
            assertThat(span.parent()).isEqualTo(SENDER);
        });
        assertThat(spans.stream().filter(span -> !span.failed())).hasSize(1);
        assertThat(spans.stream().filter(ToldSpan::failed))
                .allSatisfy(span -> assertThat(span.attributes())
                        .containsEntry("error.type", IllegalStateException.class.getName()));
        assertThat(header(id, CloudEventHeaders.TRACE_PARENT)).startsWith("00-" + trace);
    }

    @Test
    void noContextLeaksToTheNextEventOnTheSameThreadAndABadOneIsIgnored() {
        String trace = newTrace();
        String first = add("leaking", parent(trace));
        String without = add("order", null);
        String bad = add("order", "00-" + trace + "-xyz-01");
        String last = add("order", parent(trace));
        topics.flush();
        awaitLagZero();

        Set<String> others = Set.of(without, bad).stream()
                .map(id -> awaitSpans(id, "process", 1).get(0))
                .peek(span -> assertThat(span.parent()).isEmpty())
                .map(ToldSpan::trace)
                .collect(Collectors.toSet());
        assertThat(others).hasSize(2).doesNotContain(trace);
        assertThat(awaitSpans(first, "process", 1).get(0).trace()).isEqualTo(trace);
        assertThat(awaitSpans(last, "process", 1).get(0).trace()).isEqualTo(trace);
        for (String id : List.of(without, bad, last)) {
            assertThat(header(id, CloudEventHeaders.TRACE_PARENT).split("-")[1])
                    .isEqualTo(awaitSpans(id, "process", 1).get(0).trace());
        }
    }

    @Test
    void aHandlerOfManyEventsHasATraceOfItsOwnWithALinkToEach() {
        String one = newTrace();
        String other = newTrace();
        add("many", parent(one));
        add("many", parent(other));
        topics.flush();
        awaitLagZero();

        await().atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(links("traced-many"))
                        .containsExactlyInAnyOrder(one + "-" + SENDER, other + "-" + SENDER));
        assertThat(spans("traced-many")).allSatisfy(span -> {
            assertThat(span.parent()).isEmpty();
            assertThat(span.trace()).isNotIn(one, other);
            assertThat(span.attributes()).containsKey("messaging.batch.message_count");
        });
    }

    @Test
    void aContextThatTheApplicationSetsStaysAndGetsNoSpan() {
        String trace = newTrace();
        String id = send("own", "", 0, parent(trace), null);
        awaitLagZero();

        assertThat(header(id, CloudEventHeaders.TRACE_PARENT)).isEqualTo(TracedHandlers.OWN);
        awaitSpans(id, "process", 1);
        String published = database.texts("select id::text from outbox_event").get(0);
        assertThat(collector.spans())
                .noneMatch(span -> published.equals(span.attributes().get("messaging.message.id")));
    }

    private static String newTrace() {
        return "0af7651916cd43dd8448eb21" + String.format("%08x", ++traces);
    }

    private static String parent(String trace) {
        return "00-" + trace + "-" + SENDER + "-01";
    }

    private static String send(String type, String action, int times, String parent, String state) {
        ProducerRecord<byte[], byte[]> record = record(Topics.id(), type, action, times);
        record.headers().add(CloudEventHeaders.TRACE_PARENT, Topics.bytes(parent));
        if (state != null) {
            record.headers().add(CloudEventHeaders.TRACE_STATE, Topics.bytes(state));
        }
        return send(record);
    }

    private static String send(ProducerRecord<byte[], byte[]> record) {
        topics.send(record);
        return id(record);
    }

    private static String add(String type, String parent) {
        ProducerRecord<byte[], byte[]> record = record(Topics.id(), type, "", 0);
        if (parent != null) {
            record.headers().add(CloudEventHeaders.TRACE_PARENT, Topics.bytes(parent));
        }
        topics.add(record);
        return id(record);
    }

    private static ProducerRecord<byte[], byte[]> record(String id, String type, String action, int times) {
        ProducerRecord<byte[], byte[]> record =
                new ProducerRecord<>(APP, 0, Topics.bytes("key"), Topics.bytes(Topics.order(id, action, times)));
        record.headers().add(CloudEventHeaders.ID, Topics.bytes(id)).add(CloudEventHeaders.TYPE, Topics.bytes(type));
        return record;
    }

    private static String id(ProducerRecord<byte[], byte[]> record) {
        return new String(record.headers().lastHeader(CloudEventHeaders.ID).value(), StandardCharsets.UTF_8);
    }

    private static List<ToldSpan> awaitSpans(String id, String operation, int number) {
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(spans(id, operation)).hasSize(number));
        return spans(id, operation);
    }

    private static List<ToldSpan> spans(String id, String operation) {
        return collector.spans().stream()
                .filter(span -> id.equals(span.attributes().get("messaging.message.id"))
                        && operation.equals(span.attributes().get("messaging.operation.name")))
                .toList();
    }

    private static List<ToldSpan> spans(String handler) {
        return collector.spans().stream()
                .filter(span -> handler.equals(span.attributes().get("twinbox.handler")))
                .toList();
    }

    private static List<String> links(String handler) {
        return spans(handler).stream().flatMap(span -> span.links().stream()).toList();
    }

    /** A header of the one event that was published while the event of this id was handled. */
    private static String header(String cause, String name) {
        List<String> values = database.texts(
                "select headers[array_position(headers, ?) + 1] from outbox_event where key = ?", name, cause);
        assertThat(values).hasSize(1);
        return values.get(0);
    }

    private static String number(String id) {
        return database.texts("select number from inbox_parked where event_id = ?", id)
                .get(0);
    }

    private static void awaitLagZero() {
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(topics.lag(APP, APP)).isZero());
    }
}
