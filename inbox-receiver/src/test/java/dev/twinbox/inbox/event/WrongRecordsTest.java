package dev.twinbox.inbox.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.twinbox.DeliveryContract;
import dev.twinbox.EventSerializer;
import dev.twinbox.inbox.WrongRecord;
import dev.twinbox.inbox.WrongRecord.Draft;
import dev.twinbox.inbox.WrongRecordsIT;
import dev.twinbox.inbox.app.Order;
import jakarta.json.JsonObject;
import java.lang.invoke.MethodHandles;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.record.TimestampType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** How the receiver reads each wrong record. {@link WrongRecordsIT} tests what happens to it then. */
class WrongRecordsTest {

    private static final Handler HANDLER = new Handler(
            "orders",
            DeliveryContract.EXACTLY_ONCE_EFFECT,
            HandlerShape.EVENT_AND_CONTEXT,
            Order.class,
            MethodHandles.empty(Handler.CALL));

    private final Subscription subscription = new Subscription(
            "group",
            Map.of("orders", Map.of(WrongRecord.TYPE, List.of(HANDLER))),
            Aliases.NONE,
            TopicFormat.OfTopics.CLOUD_EVENTS,
            UnknownType.SKIP,
            new OrderSerializer());

    @ParameterizedTest
    @EnumSource
    void aWrongRecordIsNeverAnExceptionAndItsProblemIsNamed(WrongRecord wrong) {
        Draft draft = wrong.draft();
        ReceivedEvent event = ReceivedEvent.of(record(draft), subscription);

        switch (wrong.outcome()) {
            case PARKED_WITHOUT_HANDLER -> {
                assertThat(event.isReadable()).isFalse();
                assertThat(event.problem()).hasMessageContaining(wrong.text());
                assertThat(event.idOrNull()).as("an id made up").isNull();
            }
            case PARKED_FOR_ITS_HANDLER -> {
                assertThat(event.isReadable()).isTrue();
                assertThat(event.handlers()).containsExactly(HANDLER);
                assertThatThrownBy(() -> event.eventFor(HANDLER))
                        .isInstanceOf(UnreadableRecordException.class)
                        .hasMessageContaining(wrong.text());
            }
            case SKIPPED -> {
                assertThat(event.isReadable()).isTrue();
                assertThat(event.handlers()).isEmpty();
            }
            case HANDLED -> {
                assertThat(event.isReadable()).isTrue();
                assertThat(event.id()).isEqualTo(draft.id);
                assertThat(event.context().id()).isEqualTo(draft.id);
                assertThat(event.eventFor(HANDLER)).isEqualTo(draft.value == null ? null : new Order("1", "", 0));
            }
        }
        assertThat(event.isOfUnknownType()).isEqualTo(wrong.outcome() == WrongRecord.Outcome.SKIPPED);
    }

    @Test
    void textThatIsNotUtf8IsNotReplacedByAnother() {
        Handler ofText = new Handler(
                "texts",
                DeliveryContract.EXACTLY_ONCE_EFFECT,
                HandlerShape.EVENT,
                String.class,
                MethodHandles.empty(Handler.CALL));
        ReceivedEvent wrong = ReceivedEvent.of(record(WrongRecord.VALUE_NOT_UTF8.draft()), subscription);
        ReceivedEvent right = ReceivedEvent.of(record(WrongRecord.TIME_WRONG.draft()), subscription);

        assertThat(right.eventFor(ofText)).isEqualTo(Draft.JSON);
        assertThatThrownBy(() -> wrong.eventFor(ofText))
                .isInstanceOf(UnreadableRecordException.class)
                .hasMessage("its value of 32 bytes is not UTF-8; a handler with a byte[] parameter "
                        + "gets the bytes as they are");
    }

    private static ConsumerRecord<byte[], byte[]> record(Draft draft) {
        return new ConsumerRecord<>(
                "orders",
                0,
                0,
                0,
                TimestampType.CREATE_TIME,
                0,
                0,
                draft.key,
                draft.value,
                draft.headers,
                Optional.empty());
    }

    /** As strict as the servers' JSON-B. */
    private static final class OrderSerializer implements EventSerializer {
        @Override
        public String contentType() {
            return "application/json";
        }

        @Override
        public byte[] serialize(Object event) {
            throw new UnsupportedOperationException();
        }

        @Override
        public <T> T deserialize(byte[] data, Class<T> type) {
            JsonObject json = Json.parse(data).asJsonObject();
            return type.cast(new Order(json.getString("id"), json.getString("action"), json.getInt("times")));
        }
    }
}
