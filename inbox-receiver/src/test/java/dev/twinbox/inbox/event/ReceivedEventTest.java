package dev.twinbox.inbox.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.twinbox.DeliveryContract;
import dev.twinbox.EventContext;
import dev.twinbox.inbox.NoSerializer;
import java.lang.invoke.MethodHandles;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The state of a record on its way through the receiver. For wrong records see {@link WrongRecordsTest}. */
class ReceivedEventTest {

    private static final Handler TEXT = handler("text", String.class);
    private static final Handler RAW = handler("raw", byte[].class);

    private final Subscription subscription = new Subscription(
            "group",
            Map.of("orders", Map.of("order", List.of(RAW, TEXT))),
            new Aliases(Map.of("orders", Map.of("OrderPlaced", "order"))),
            TopicFormat.OfTopics.CLOUD_EVENTS,
            UnknownType.SKIP,
            new NoSerializer());

    @Test
    void theContextIsWhatCameAlong() {
        ConsumerRecord<byte[], byte[]> record = record("k", "v", "ce_id", "e-1", "ce_type", "OrderPlaced");
        record.headers()
                .add("ce_source", utf8("/shop"))
                .add("ce_time", utf8("2026-11-29T13:00:00.5+01:00"))
                .add("tenant", utf8("größer"))
                .add("empty", null);

        assertThat(received(record).context())
                .isEqualTo(new EventContext(
                        "e-1",
                        "order",
                        "/shop",
                        Instant.parse("2026-11-29T12:00:00.5Z"),
                        "k",
                        "orders",
                        3,
                        42,
                        Map.of(
                                "ce_id", "e-1",
                                "ce_type", "OrderPlaced",
                                "ce_source", "/shop",
                                "ce_time", "2026-11-29T13:00:00.5+01:00",
                                "tenant", "größer",
                                "empty", "")));
    }

    @Test
    void theAttributesOfAStructuredEventAreAmongItsHeaders() {
        ConsumerRecord<byte[], byte[]> record = record(
                null,
                "{\"specversion\":\"1.0\",\"id\":\"e-1\",\"type\":\"order\",\"source\":\"/shop\","
                        + "\"tenant\":\"acme\",\"data\":1}",
                "content-type",
                "application/cloudevents+json");
        EventContext context = received(record).context();

        assertThat(context.source()).isEqualTo("/shop");
        assertThat(context.key()).isNull();
        assertThat(context.headers()).containsEntry("ce_tenant", "acme").containsEntry("ce_id", "e-1");
    }

    @Test
    void eachHandlerGetsTheValueAsItWantsIt() {
        ReceivedEvent event = received(record("k", "größer", "ce_id", "e-1", "ce_type", "order"));

        assertThat(event.handlers()).containsExactly(RAW, TEXT);
        assertThat(event.eventFor(RAW)).isEqualTo(utf8("größer"));
        assertThat(event.eventFor(TEXT)).isEqualTo("größer");
        assertThat(event.typeOrNull()).isEqualTo("order");
    }

    /** This figure bounds the memory of waiting events. */
    @Test
    void itsBytesAreThoseOfTheRecordAndOfAValueThatWasUnwrapped() {
        long empty =
                received(record(null, null, "ce_id", "e-1", "ce_type", "order")).bytes();

        assertThat(empty).isEqualTo(500 + "ce_ide-1ce_typeorder".length());
        ReceivedEvent event = received(record("key", "value", "ce_id", "e-1", "ce_type", "order"));
        assertThat(event.bytes()).isEqualTo(empty + 8).isEqualTo(event.bytes());

        String wrapped = "{\"specversion\":\"1.0\",\"id\":\"e-1\",\"type\":\"order\",\"data\":[1,2]}";
        String type = "application/cloudevents+json";
        assertThat(received(record(null, wrapped, "content-type", type)).bytes())
                .isEqualTo(500 + wrapped.length() + "[1,2]".length() + "content-type".length() + type.length());
    }

    @Test
    void whoWaitsForWhomIsKnownByADigestOfTheKey() throws Exception {
        assertThat(received(record("k", "v", "ce_id", "e-1", "ce_type", "order"))
                        .keyHash())
                .isEqualTo(MessageDigest.getInstance("SHA-256").digest(utf8("k")));
        assertThat(received(record(null, "v", "ce_id", "e-1", "ce_type", "order"))
                        .keyHash())
                .isNull();
    }

    @Test
    void itKnowsHowFarItGotHandlerByHandler() {
        ReceivedEvent event = received(record("k", "v", "ce_id", "e-1", "ce_type", "order"));
        assertThat(event.nextHandler()).isZero();
        assertThat(event.failed()).isEqualTo(1);
        assertThat(event.failed()).isEqualTo(2);
        assertThat(event.failures()).isEqualTo(2);

        event.handlerDone();
        assertThat(event.nextHandler()).isEqualTo(1);
        assertThat(event.failures()).isZero();

        assertThat(event.isHandledAlone()).isFalse();
        event.handleAlone();
        assertThat(event.isHandledAlone()).isTrue();
    }

    @Test
    void anOperatorFindsItByItsPlaceIdAndType() {
        assertThat(received(record("k", "v", "ce_id", "e-1", "ce_type", "order")))
                .hasToString("orders-3@42 (event e-1, type order)");
        ReceivedEvent unreadable = received(record("k", "v"));
        assertThat(unreadable).hasToString("orders-3@42 (event without id, type none)");
        assertThat(unreadable.offset()).isEqualTo(42);
        assertThatThrownBy(unreadable::id)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("orders-3@42");
    }

    @Test
    void aPlaceIsPrintedAsItIsConfigured() {
        for (String text : new String[] {"cloudevent", "header:id", "key", "coordinates", "json-pointer:/a/b"}) {
            assertThat(Origin.ofId(text)).hasToString(text);
        }
        for (String text : new String[] {"cloudevent", "header:type", "json-pointer:/type", "fixed:order"}) {
            assertThat(Origin.ofType(text)).hasToString(text);
        }
        assertThat(TopicFormat.OfTopics.CLOUD_EVENTS)
                .hasToString("(event-id=cloudevent, event-type=cloudevent, value-format=plain)");
        assertThat(new TopicFormat.OfTopics(
                        TopicFormat.CLOUD_EVENTS,
                        Map.of(
                                "t",
                                new TopicFormat(
                                        new Origin.Key(), new Origin.Fixed("x"), TopicFormat.Wrapping.CONNECT_JSON))))
                .asString()
                .endsWith(" {t=(event-id=key, event-type=fixed:x, value-format=connect-json)}");
    }

    @Test
    void anIdMayBeOfAnyTextUpToItsBound() {
        for (String id : new String[] {"😀", "a😀b", "i".repeat(512), "€".repeat(170) + "ab", " "}) {
            assertThat(received(record("k", "v", "ce_id", id, "ce_type", "order"))
                            .id())
                    .isEqualTo(id);
            assertThat(Content.of(record(id, null), TopicFormat.Wrapping.CONNECT_JSON)
                            .find(new Origin.Key()))
                    .isEqualTo(id);
        }
        assertThat(received(record("k", "v", "ce_id", "€".repeat(171), "ce_type", "order"))
                        .isReadable())
                .isFalse();
    }

    private ReceivedEvent received(ConsumerRecord<byte[], byte[]> record) {
        return ReceivedEvent.of(record, subscription);
    }

    /** @param headers name, value, name, value … */
    private static ConsumerRecord<byte[], byte[]> record(
            @Nullable String key, @Nullable String value, String... headers) {
        ConsumerRecord<byte[], byte[]> record = new ConsumerRecord<>(
                "orders", 3, 42, key == null ? null : utf8(key), value == null ? null : utf8(value));
        for (int i = 0; i < headers.length; i += 2) {
            record.headers().add(headers[i], utf8(headers[i + 1]));
        }
        return record;
    }

    private static Handler handler(String name, Class<?> eventClass) {
        return new Handler(
                name,
                DeliveryContract.EXACTLY_ONCE_EFFECT,
                HandlerShape.EVENT,
                eventClass,
                MethodHandles.empty(Handler.CALL));
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
