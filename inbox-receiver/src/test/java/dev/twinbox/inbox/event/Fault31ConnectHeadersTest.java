package dev.twinbox.inbox.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.DeliveryContract;
import dev.twinbox.inbox.NoSerializer;
import dev.twinbox.inbox.event.TopicFormat.Wrapping;
import java.lang.invoke.MethodHandles;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Kafka Connect with a JSON header converter sends the type in quotes, or in an envelope. Such events were skipped as of
 * an unknown type.
 */
class Fault31ConnectHeadersTest {

    private static final Handler HANDLER = new Handler(
            "created",
            DeliveryContract.EXACTLY_ONCE_EFFECT,
            HandlerShape.EVENT_AND_CONTEXT,
            String.class,
            MethodHandles.empty(Handler.CALL));

    private static final String ENVELOPE = "{\"schema\":{\"type\":\"string\",\"optional\":false},\"payload\":\"%s\"}";

    @ParameterizedTest
    @ValueSource(strings = {"%s", "\"%s\"", ENVELOPE})
    void headersAreUnwrappedLikeValuesAndKeys(String form) {
        ConsumerRecord<byte[], byte[]> record = record(form.formatted("OrderCreated"), form.formatted("17"));
        record.headers().add("traceparent", utf8(form.formatted("00-1"))).add("empty", null);

        ReceivedEvent event = ReceivedEvent.of(record, subscription(Wrapping.CONNECT_JSON));

        assertThat(event.isReadable()).as(event.problem().getMessage()).isTrue();
        assertThat(event.handlers()).containsExactly(HANDLER);
        assertThat(event.id()).isEqualTo("17");
        assertThat(event.context().headers())
                .containsEntry("traceparent", "00-1")
                .containsEntry("eventType", "OrderCreated")
                .containsEntry("empty", "");
    }

    @Test
    void attributesOfCloudEventsAreUnwrappedToo() {
        ConsumerRecord<byte[], byte[]> record = record("\"OrderCreated\"", "\"17\"");
        record.headers().add("ce_specversion", utf8("\"1.0\"")).add("ce_id", utf8("\"e-1\""));

        assertThat(Content.of(record, Wrapping.CONNECT_JSON).find(Origin.Attribute.ID))
                .isEqualTo("e-1");
        record.headers().add("content-type", utf8("\"application/cloudevents+json\""));
        assertThat(ReceivedEvent.of(record, subscription(Wrapping.CONNECT_JSON)).isReadable())
                .as("taken for a structured event, which it is not")
                .isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"\"%s\"", ENVELOPE})
    void withoutTheSettingTheEventIsParkedAndTheSettingIsNamed(String form) {
        ReceivedEvent event = ReceivedEvent.of(
                record(form.formatted("OrderCreated"), "17"), subscription(Wrapping.NONE));

        assertThat(event.isOfUnknownType()).isFalse();
        assertThat(event.isReadable()).isFalse();
        assertThat(event.problem())
                .hasMessageContaining("no handler takes its type")
                .hasMessageContaining("twinbox.inbox.value-format")
                .hasMessageContaining("SimpleHeaderConverter");
    }

    @Test
    void anotherTypeIsStillSkipped() {
        for (String type : List.of("OrderDeleted", "{\"a\":1}", "{curly", "\"half")) {
            assertThat(ReceivedEvent.of(record(type, "17"), subscription(Wrapping.NONE))
                            .isOfUnknownType())
                    .as(type)
                    .isTrue();
        }
    }

    private static Subscription subscription(Wrapping wrapping) {
        TopicFormat format = new TopicFormat(
                Objects.requireNonNull(Origin.ofId("header:id")),
                Objects.requireNonNull(Origin.ofType("header:eventType")),
                wrapping);
        return new Subscription(
                "group",
                Map.of("orders", Map.of("OrderCreated", List.of(HANDLER))),
                Aliases.NONE,
                new TopicFormat.OfTopics(format, Map.of()),
                UnknownType.SKIP,
                new NoSerializer());
    }

    private static ConsumerRecord<byte[], byte[]> record(String type, String id) {
        ConsumerRecord<byte[], byte[]> record = new ConsumerRecord<>("orders", 0, 1, null, utf8("\"text\""));
        record.headers().add("eventType", utf8(type)).add("id", utf8(id));
        return record;
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
