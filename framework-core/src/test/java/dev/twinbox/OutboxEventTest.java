package dev.twinbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OutboxEventTest {

    private static final OutboxEvent EVENT = OutboxEvent.of("payload");

    @Test
    void partsAreKeptAsTheyAreSet() {
        OutboxEvent event = EVENT.withTopic("orders.v1_A-z")
                .withKey("42")
                .withType("order.placed")
                .withSubject("orders/42")
                .withContentType("application/cbor; v=1")
                .withHeader("traceparent", "00-1")
                .withHeader("baggage", "")
                .withHeader("traceparent", "00-2")
                .withDeliverAt(Instant.EPOCH);

        assertThat(event)
                .isEqualTo(new OutboxEvent(
                        "payload",
                        "orders.v1_A-z",
                        "42",
                        "order.placed",
                        "orders/42",
                        "application/cbor; v=1",
                        Map.of("traceparent", "00-2", "baggage", ""),
                        Instant.EPOCH));
        assertThat(event.headers().keySet()).containsExactly("traceparent", "baggage");
    }

    @Test
    void nullUnsetsAPart() {
        assertThat(EVENT.withTopic("t")
                        .withKey("k")
                        .withType("y")
                        .withSubject("s")
                        .withContentType("a/b")
                        .withTopic(null)
                        .withKey(null)
                        .withType(null)
                        .withSubject(null)
                        .withContentType(null)
                        .withDeliverAt(Instant.EPOCH)
                        .withDeliverAt(null))
                .isEqualTo(EVENT);
    }

    @Test
    void aTimeThatIsNoDateIsRefusedAtTheCall() {
        for (Instant out : List.of(Instant.MAX, Instant.MIN, Instant.parse("+10000-01-01T00:00:00Z"))) {
            assertThatThrownBy(() -> EVENT.withDeliverAt(out))
                    .isInstanceOf(InvalidEventException.class)
                    .hasMessageContainingAll("deliverAt " + out, "out of range", "9999-12-31");
        }
    }

    @Test
    void headersAreCopiedAndCannotBeChanged() {
        Map<String, String> headers = new LinkedHashMap<>(Map.of("a", "1"));
        OutboxEvent event = new OutboxEvent("p", null, null, null, null, null, headers, null);
        headers.put("b", "2");

        assertThat(event.headers()).containsOnlyKeys("a");
        assertThatThrownBy(() -> event.headers().put("c", "3")).isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    void itsTextShowsNeitherPayloadNorHeaderValues() {
        assertThat(OutboxEvent.of("secret one").withHeader("h", "secret two").withKey("k"))
                .asString()
                .doesNotContain("secret")
                .contains("java.lang.String", "key=k", "[h]");
    }

    @Test
    void anEventInAnEventIsRefused() {
        assertThatThrownBy(() -> OutboxEvent.of(EVENT))
                .isInstanceOf(InvalidEventException.class)
                .hasMessageContaining("OutboxEvent itself");
    }

    @Test
    void emojiAndOtherPairedSurrogatesAreText() {
        String text = "😀 é \u2028 \u202e \\u0000 \"";

        assertThat(EVENT.withKey(text).withHeader(text, text).key()).isEqualTo(text);
    }

    @Test
    void aNULIsRefusedWithItsPlace() {
        refused(e -> e.withKey("ab\0"), "key contains U+0000 at index 2");
        refused(e -> e.withType("\0"), "type contains U+0000 at index 0");
        refused(e -> e.withSubject("a\0"), "subject contains U+0000 at index 1");
        refused(e -> e.withHeader("h\0", "v"), "header name \"hU+0000\" contains U+0000 at index 1");
        refused(e -> e.withHeader("h", "v\0"), "header \"h\" contains U+0000 at index 1");
    }

    @Test
    void aLoneSurrogateIsRefusedWithItsPlace() {
        refused(e -> e.withKey("😀\ud83d"), "key contains a lone surrogate (U+D83D) at index 2");
        refused(e -> e.withType("\ude00"), "type contains a lone surrogate (U+DE00) at index 0");
        refused(e -> e.withSubject("\ud83dx"), "subject contains a lone surrogate (U+D83D) at index 0");
        refused(e -> e.withHeader("\ud83d", "v"), "header name \"U+D83D\" contains a lone surrogate");
        refused(e -> e.withHeader("h", "\ude00\ud83d"), "header \"h\" contains a lone surrogate (U+DE00) at index 0");
    }

    @Test
    void anEmptyPartIsRefused() {
        refused(e -> e.withKey(""), "key is empty");
        refused(e -> e.withType(""), "type is empty");
        refused(e -> e.withSubject(""), "subject is empty");
        refused(e -> e.withContentType(""), "content type is empty");
        refused(e -> e.withHeader("", "v"), "a header has no name");
        refused(e -> e.withHeader("h", null), "header \"h\" has no value");
    }

    @Test
    void anIllegalTopicIsRefusedWithTheRule() {
        refused(e -> e.withTopic(""), "has 0 characters: Kafka allows 1 to 249");
        refused(e -> e.withTopic("x".repeat(250)), "has 250 characters: Kafka allows 1 to 249");
        refused(e -> e.withTopic("."), "topic \".\" is not allowed by Kafka");
        refused(e -> e.withTopic(".."), "topic \"..\" is not allowed by Kafka");
        refused(e -> e.withTopic("a/b c"), "topic \"a/b c\" has an illegal character at index 1");
        refused(e -> e.withTopic("ä"), "illegal character at index 0");
        refused(e -> e.withTopic("a\0"), "topic \"aU+0000\" has an illegal character at index 1");
        assertThat(EVENT.withTopic("x".repeat(249)).topic()).hasSize(249);
    }

    @Test
    void aTopicMayHaveTheCharactersThatKafkaAllowsAndNotTheirNeighbours() {
        assertThat(EVENT.withTopic("azAZ09._-").topic()).isEqualTo("azAZ09._-");
        for (char c : "`{@[/:,^~ ".toCharArray()) {
            refused(e -> e.withTopic("t" + c), "illegal character at index 1");
        }
    }

    @Test
    void aLongValueIsNotRepeatedInFull() {
        refused(e -> e.withTopic("x".repeat(10_000)), "topic \"" + "x".repeat(60) + "…\" has 10000 characters");
    }

    @Test
    void theFirstAndTheLastSecondOfFourDigitYearsAreTimes() {
        for (String within : List.of("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z")) {
            assertThat(EVENT.withDeliverAt(Instant.parse(within)).deliverAt()).isEqualTo(Instant.parse(within));
        }
        refused(e -> e.withDeliverAt(Instant.parse("0000-12-31T23:59:59.999999999Z")), "out of range");
        refused(e -> e.withDeliverAt(Instant.parse("9999-12-31T23:59:59.000000001Z")), "out of range");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"a/b", "application/cloudevents+json", "a/b;", "text/plain; charset=utf-8", "a/b ; c=\"~ !\""})
    void aMediaTypeIsTakenAsItIs(String contentType) {
        assertThat(EVENT.withContentType(contentType).contentType()).isEqualTo(contentType);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ce_id",
                "CE_anything",
                "content-type",
                "Content-Type",
            })
    void aReservedHeaderIsRefused(String name) {
        refused(e -> e.withHeader(name, "v"), "header \"" + name + "\" is reserved");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ce_causationid", "ce_correlationid", "traceparent", "tracestate"})
    void anEventMaySayWhatItFollowsFrom(String name) {
        assertThat(EVENT.withHeader(name, "v").headers()).containsEntry(name, "v");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "json",
                "/json",
                "application/",
                "application /json",
                "a/b\n",
                "é/b",
                "a/b;c=\u007f",
                "a/\u007f",
                "a/b;c=é",
                ";/b",
                "/;a/b"
            })
    void aContentTypeThatIsNoMediaTypeIsRefused(String contentType) {
        refused(e -> e.withContentType(contentType), "is not a media type");
    }

    @Test
    void aTombstoneNamesTopicKeyAndTypeAndHasNoPayload() {
        assertThat(OutboxEvent.tombstone("t", "k", "gone"))
                .isEqualTo(new OutboxEvent(null, "t", "k", "gone", null, null, Map.of(), null));
    }

    private static void refused(UnaryOperator<OutboxEvent> change, String message) {
        assertThatThrownBy(() -> change.apply(EVENT))
                .isInstanceOf(InvalidEventException.class)
                .hasMessageContaining(message);
    }
}
