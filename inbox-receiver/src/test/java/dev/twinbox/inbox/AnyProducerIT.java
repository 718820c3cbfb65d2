package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.inbox.app.AnyProducerHandlers;
import java.util.List;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Events of other producers: their ids and types are where the configuration says, or missing. */
@Tag("proof")
class AnyProducerIT {

    private static final String APP = "any-producer";
    private static final List<String> TOPICS =
            List.of("any-cloudevents", "outbox.event.order", "any-plain", "any-json", "any-keyed");

    private static Topics topics;
    private static Database database;

    @BeforeAll
    static void deploy() {
        database = new Database("any_producer");
        topics = new Topics();
        TOPICS.forEach(topic -> Servers.kafka().createTopic(topic, 1));
        String debezium = "twinbox.inbox.topic.outbox.event.order.";
        MainApp.deploy(new TestApp(APP, database.name())
                .with(AnyProducerHandlers.class, AnyProducerHandlers.Placed.class)
                .with(debezium + "event-id", "header:id")
                .with(debezium + "event-type", "header:eventType")
                .with(debezium + "value-format", "connect-json")
                .with("twinbox.inbox.topic.any-plain.event-id", "coordinates")
                .with("twinbox.inbox.topic.any-plain.event-type", "fixed:reading")
                .with("twinbox.inbox.topic.any-json.event-id", "json-pointer:/meta/id")
                .with("twinbox.inbox.topic.any-json.event-type", "json-pointer:/meta/type")
                .with("twinbox.inbox.topic.any-keyed.event-id", "key")
                .with("twinbox.inbox.topic.any-keyed.event-type", "fixed:customer"));
    }

    @AfterAll
    static void undeploy() {
        Servers.payara().undeploy(APP);
        topics.close();
    }

    @Test
    void aCloudEventInStructuredModeIsHandledAsOneInBinaryMode() {
        String id = Topics.id();
        String event = """
                {"specversion":"1.0","id":"%s","source":"/shop","type":"order.placed","time":"2026-11-29T12:00:00.5Z",
                 "subject":"o-1","tenant":"acme","data":{"text":"größer","unknown":[1]}}""".formatted(id);

        send("any-cloudevents", "k", event, "content-type", "application/cloudevents+json; charset=UTF-8");
        send("any-cloudevents", "k", event, "content-type", "application/cloudevents+json; charset=UTF-8");
        settle("any-cloudevents");

        assertThat(database.effects("placed"))
                .containsOnlyOnce("größer " + id + " order.placed /shop 2026-11-29T12:00:00.500Z o-1 acme");
        assertThat(database.effects("placedAsBytes")).containsOnlyOnce("{\"text\":\"größer\",\"unknown\":[1]}");
        assertThat(claims(id)).isEqualTo(2);
    }

    @Test
    void anEventUnderAFormerNameGoesToAllHandlersOfTheTypeAndFieldsThatNobodyKnowsAreLeft() {
        String id = Topics.id();

        topics.send(
                "any-cloudevents",
                0,
                id,
                "OrderPlacedEvent",
                "{\"added\":{\"later\":true},\"text\":\"old " + id + "\"}");
        settle("any-cloudevents");

        assertThat(database.effects("placed"))
                .contains("old " + id + " " + id + " order.placed /tests 2026-11-29T12:00:00.123Z null null");
        assertThat(database.effects("placedAsBytes"))
                .contains("{\"added\":{\"later\":true},\"text\":\"old " + id + "\"}");
    }

    @Test
    void theOutputOfDebeziumsOutboxRouterIsHandledOnceByItsId() {
        String asText = Topics.id();
        String inEnvelope = Topics.id();
        String expanded = Topics.id();
        String schema = "{\"type\":\"string\",\"optional\":true,\"name\":\"io.debezium.data.Json\"}";

        for (int i = 0; i < 2; i++) { // a restarted connector sends duplicates
            sendAsDebezium("o-1", "\"{\\\"text\\\":\\\"a\\\"}\"", asText);
            sendAsDebezium(
                    "{\"schema\":{\"type\":\"string\",\"optional\":false},\"payload\":\"o-2\"}",
                    "{\"schema\":" + schema + ",\"payload\":\"{\\\"text\\\":\\\"b\\\"}\"}",
                    inEnvelope);
            sendAsDebezium("o-3", "{\"text\":\"c\"}", expanded);
        }
        settle("outbox.event.order");

        assertThat(database.effects("created"))
                .containsOnlyOnce("a " + asText + " o-1", "b " + inEnvelope + " o-2", "c " + expanded + " o-3");
    }

    /** With a JSON header converter the type comes in quotes or in an envelope. It was skipped as an unknown type. */
    @Test
    void fault31HeadersOfAJsonHeaderConverterAreUnwrapped() {
        String quoted = Topics.id();
        String inEnvelope = Topics.id();
        String envelope = "{\"schema\":{\"type\":\"string\",\"optional\":false},\"payload\":\"%s\"}";

        send("outbox.event.order", "q", "{\"text\":\"q\"}", "id", "\"" + quoted + "\"", "eventType", "\"OrderCreated\"");
        send(
                "outbox.event.order",
                "e",
                "{\"text\":\"e\"}",
                "id",
                envelope.formatted(inEnvelope),
                "eventType",
                envelope.formatted("OrderCreated"));
        settle("outbox.event.order");

        assertThat(database.effects("created")).contains("q " + quoted + " q", "e " + inEnvelope + " e");
    }

    @Test
    void aPlainProducersRecordsAreKnownByTheirCoordinatesOrTheirKey() {
        send("any-plain", null, "21.5");
        send("any-plain", null, "21.5");
        send("any-keyed", "c-1", "first");
        send("any-keyed", "c-1", "again");
        settle("any-plain");
        settle("any-keyed");

        assertThat(database.effects("reading")).containsExactly("21.5 any-plain-0-0", "21.5 any-plain-0-1");
        assertThat(database.effects("customer")).contains("first c-1").doesNotContain("again c-1");
    }

    @Test
    void anIdInTheValueIsTakenAndOneThatIsNotThereIsNeverMadeUp() {
        send("any-json", "a", "{\"meta\":{\"id\":17,\"type\":\"measured\"}}");
        send("any-json", "a", "{\"meta\":{\"id\":\"x\",\"type\":\"measurement\"}}");
        send("any-json", "b", "{\"meta\":{\"type\":\"measured\"}}");
        send("any-json", "c", "{\"meta\":{\"id\":\"\\u0000\",\"type\":\"measured\"}}");
        send("any-json", "d", "{\"meta\":{\"id\":\"\\udfff\",\"type\":\"measured\"}}");
        send("any-json", "e", "{\"meta\":{\"id\":\"" + "i".repeat(600) + "\",\"type\":\"measured\"}}");
        send("any-json", "f", "{\"meta\":{\"id\":\"\",\"type\":\"measured\"}}");
        send("any-json", "g", "no JSON");
        send("any-json", "h", null);
        send("any-json", "a", "{\"meta\":{\"id\":18,\"type\":\"measured\"}}");
        settle("any-json");

        assertThat(database.effects("measured"))
                .containsExactly(
                        "{\"meta\":{\"id\":17,\"type\":\"measured\"}} 17",
                        "{\"meta\":{\"id\":\"x\",\"type\":\"measurement\"}} x",
                        "{\"meta\":{\"id\":18,\"type\":\"measured\"}} 18");
        assertThat(database.texts("select state || ' ' || coalesce(handler, 'nobody') || ' ' "
                        + "|| convert_from(record_key, 'UTF8') || ' ' || error "
                        + "from inbox_parked where topic = 'any-json' order by number"))
                .allMatch(text -> text.startsWith("dead nobody "))
                .satisfiesExactly(
                        text -> assertThat(text).contains(": json-pointer:/meta/id is missing"),
                        text -> assertThat(text).contains(": json-pointer:/meta/id contains U+0000"),
                        text -> assertThat(text).contains(": json-pointer:/meta/id has a lone surrogate"),
                        text -> assertThat(text).contains(": json-pointer:/meta/id has more than 512 bytes"),
                        text -> assertThat(text).contains(": json-pointer:/meta/id is empty"),
                        text -> assertThat(text).contains(": its value of 7 bytes is not JSON"),
                        text -> assertThat(text).contains(": it has no value, so json-pointer:/meta/type is missing"));
    }

    private static void sendAsDebezium(String key, String value, String id) {
        send("outbox.event.order", key, value, "id", id, "eventType", "OrderCreated");
    }

    /** @param headers name, value, name, value … */
    private static void send(String topic, @Nullable String key, @Nullable String value, String... headers) {
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(
                topic, 0, key == null ? null : Topics.bytes(key), value == null ? null : Topics.bytes(value));
        for (int i = 0; i < headers.length; i += 2) {
            record.headers().add(headers[i], Topics.bytes(headers[i + 1]));
        }
        topics.send(record);
    }

    private static void settle(String topic) {
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(topics.lag(APP, topic)).isZero());
    }

    private static long claims(String id) {
        return database.count("inbox_event where event_id = ?", id);
    }
}
