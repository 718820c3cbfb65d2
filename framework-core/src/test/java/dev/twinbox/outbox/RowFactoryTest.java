package dev.twinbox.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.twinbox.EventSerializer;
import dev.twinbox.EventType;
import dev.twinbox.InvalidEventException;
import dev.twinbox.OutboxEvent;
import dev.twinbox.schema.OutboxSchema;
import dev.twinbox.tracing.Tracing;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class RowFactoryTest {

    @EventType(value = "order.placed", topic = "orders", key = "id")
    record Placed(long id, String text) {}

    record Anonymous(String text) {}

    @EventType(value = "broken", topic = "orders", key = "missing")
    record Broken(long id) {}

    /** An application's serializer that writes an event's text. */
    private static final class TextSerializer implements EventSerializer {
        @Override
        public String contentType() {
            return "text/plain";
        }

        @Override
        public byte[] serialize(Object event) {
            if (event.toString().contains("fail")) {
                throw new IllegalStateException("cannot write this");
            }
            return event.toString().getBytes(StandardCharsets.UTF_8);
        }

        @Override
        public <T> T deserialize(byte[] data, Class<T> type) {
            throw new UnsupportedOperationException();
        }
    }

    private static final Instant NOW = Instant.parse("2026-11-29T12:00:00Z");

    private final RowFactory factory = new RowFactory(
            new OutboxConfiguration("ds", "/orders", new OutboxSchema(null, "e"), 1000, 10, 10_000),
            new TextSerializer(),
            InstantSource.fixed(NOW),
            Tracing.off());

    @Test
    void whatTheEventDoesNotSayComesFromItsClass() {
        OutboxRow row = factory.row(new Placed(42, "x"));

        assertThat(row.topic()).isEqualTo("orders");
        assertThat(row.key()).isEqualTo("42");
        assertThat(row.type()).isEqualTo("order.placed");
        assertThat(row.source()).isEqualTo("/orders");
        assertThat(row.occurredAt()).isEqualTo(NOW);
        assertThat(row.contentType()).isEqualTo("text/plain");
        assertThat(row.flatHeaders()).isNull();
        assertThat(row.payload()).asString(StandardCharsets.UTF_8).isEqualTo("Placed[id=42, text=x]");
    }

    @Test
    void whatTheEventSaysGoesBeforeItsClass() {
        OutboxRow row = factory.row(OutboxEvent.of(new Placed(42, "x"))
                .withTopic("t")
                .withKey("k")
                .withType("y")
                .withContentType("a/b")
                .withHeader("h", "1")
                .withHeader("i", "2"));

        assertThat(row.topic()).isEqualTo("t");
        assertThat(row.key()).isEqualTo("k");
        assertThat(row.type()).isEqualTo("y");
        assertThat(row.contentType()).isEqualTo("a/b");
        assertThat(row.flatHeaders()).containsExactly("h", "1", "i", "2");
    }

    @Test
    void bytesAreSentAsTheyAre() {
        byte[] raw = {1, 2, 3};
        OutboxRow row = factory.row(OutboxEvent.of(raw).withTopic("t").withType("y"));

        raw[0] = 9; // the caller's array is the caller's
        assertThat(row.payload()).containsExactly(1, 2, 3);
        assertThat(row.contentType()).isEqualTo("application/octet-stream");
        assertThat(row.key()).isNull();
    }

    @Test
    void idsAreVersion7UniqueAndAscending() {
        Set<UUID> ids = new HashSet<>();
        String previous = "";
        for (int i = 0; i < 10_000; i++) {
            UUID id = factory.row(new Placed(1, "")).id();
            assertThat(id.version()).isEqualTo(7);
            assertThat(id.toString()).isGreaterThan(previous);
            previous = id.toString();
            assertThat(ids.add(id)).isTrue();
        }
    }

    @Test
    void anIncompleteEventIsRefusedWithTheRemedy() {
        refused(null, "event is null");
        refused(new Anonymous("x"), "has no topic: state it by @EventType");
        refused(OutboxEvent.of(new Anonymous("x")).withTopic("t"), "has no type");
        refused(
                new Broken(1),
                "@EventType of " + Broken.class.getTypeName() + ": key property \"missing\" does not exist");
        refused(
                new Placed(1, "fail"),
                "event " + Placed.class.getTypeName() + " cannot be serialized: cannot write this");
    }

    @Test
    void attributeBytesAreThoseOfUtf8() {
        String text = "aé€😀";
        OutboxRow row = factory.row(OutboxEvent.of(new byte[0])
                .withTopic("t")
                .withType("y")
                .withKey(text)
                .withHeader("h", text));

        int others =
                "t".length() + "y".length() + "h".length() + "/orders".length() + "application/octet-stream".length();
        assertThat(row.attributeBytes()).isEqualTo(2 * text.getBytes(StandardCharsets.UTF_8).length + others);
    }

    @Test
    void theLimitsNameSizeAndKey() {
        refused(
                OutboxEvent.of(new byte[1001]).withTopic("t").withType("y"),
                "has 1001 bytes, twinbox.outbox.max-payload-bytes allows 1000");
        refused(
                OutboxEvent.of(new byte[0]).withTopic("t").withType("y").withHeader("h", "é".repeat(33_000)),
                "allowed are 65536");
        assertThat(factory.row(OutboxEvent.of(new byte[1000]).withTopic("t").withType("y"))
                        .payloadBytes())
                .isEqualTo(1000);
    }

    @Test
    void attributesMayHave64KiBAndNotAByteMore() {
        OutboxEvent event = OutboxEvent.of(new byte[0]).withTopic("t").withType("y");
        int others = factory.row(event).attributeBytes() + "h".length();

        assertThat(factory.row(event.withHeader("h", "x".repeat(65_536 - others)))
                        .attributeBytes())
                .isEqualTo(65_536);
        refused(event.withHeader("h", "x".repeat(65_537 - others)), "have 65537 bytes together, allowed are 65536");
    }

    @Test
    void aTimeToDeliverAtIsNeverRoundedToOneThatIsTooEarly() {
        OutboxEvent event = OutboxEvent.of(new Placed(1, "x"));
        Instant whole = Instant.parse("2027-01-01T00:00:00.000001Z");

        assertThat(factory.row(event.withDeliverAt(whole)).deliverAt()).isEqualTo(whole);
        assertThat(factory.row(event.withDeliverAt(whole.plusNanos(1))).deliverAt())
                .isEqualTo(Instant.parse("2027-01-01T00:00:00.000002Z"));
        assertThat(factory.row(event).deliverAt()).isNull();
    }

    @Test
    void whatIsWrongIsToldWithTheEventAndTheMethodToCall() {
        refused(OutboxEvent.of(new Anonymous("x")), "event (" + Anonymous.class.getTypeName() + ") has no topic");
        refused(OutboxEvent.of(new Anonymous("x")), "or by OutboxEvent.withTopic(...)");
        refused(OutboxEvent.of(new Anonymous("x")).withTopic("t"), "or by OutboxEvent.withType(...)");
        refused(OutboxEvent.tombstone("t", "k", "gone").withTopic(null), "event (tombstone) has no topic");
        refused(
                OutboxEvent.of(new byte[1001]).withTopic("t").withType("y").withKey("k"),
                "payload of event y (topic t, key k) has 1001 bytes");
    }

    private void refused(Object event, String message) {
        assertThatThrownBy(() -> factory.row(event))
                .isInstanceOf(InvalidEventException.class)
                .hasMessageContaining(message);
    }
}
