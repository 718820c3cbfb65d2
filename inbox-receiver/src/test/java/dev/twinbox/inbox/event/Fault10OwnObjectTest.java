package dev.twinbox.inbox.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.CloudEventHeaders;
import dev.twinbox.DeliveryContract;
import dev.twinbox.EventSerializer;
import java.lang.invoke.MethodHandles;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;

/**
 * A handler changed the event object and failed once. The next attempt, and a second handler of the same class, saw the
 * change.
 */
class Fault10OwnObjectTest {

    /** Makes an array with the one digit of the value. */
    private static final EventSerializer NUMBERS = new EventSerializer() {
        @Override
        public byte[] serialize(Object payload) {
            throw new UnsupportedOperationException();
        }

        @Override
        public <T> T deserialize(byte[] data, Class<T> type) {
            return type.cast(new int[] {data[0] - '0'});
        }

        @Override
        public String contentType() {
            return "text/plain";
        }
    };

    private static final Handler FIRST = handler("first", int[].class);
    private static final Handler SECOND = handler("second", int[].class);

    @Test
    void eachCallGetsAnObjectOfItsOwn() {
        ReceivedEvent event = event("1");

        int[] ofFirst = (int[]) event.eventFor(FIRST);
        ofFirst[0] = 2;

        assertThat((int[]) event.eventFor(SECOND)).as("the second handler's").containsExactly(1);
        assertThat((int[]) event.eventFor(FIRST)).as("the next attempt's").containsExactly(1);
    }

    static Handler handler(String name, Class<?> eventClass) {
        return new Handler(
                name,
                DeliveryContract.EXACTLY_ONCE_EFFECT,
                HandlerShape.EVENT,
                eventClass,
                MethodHandles.empty(Handler.CALL));
    }

    static ReceivedEvent event(String value) {
        return event(value, NUMBERS);
    }

    static ReceivedEvent event(String value, EventSerializer serializer) {
        ConsumerRecord<byte[], byte[]> record = new ConsumerRecord<>("numbers", 0, 7, bytes("key"), bytes(value));
        record.headers().add(CloudEventHeaders.ID, bytes("1"));
        record.headers().add(CloudEventHeaders.TYPE, bytes("numbers"));
        return ReceivedEvent.of(
                record,
                new Subscription(
                        "group",
                        Map.of("numbers", Map.of("numbers", List.of(FIRST, SECOND))),
                        Aliases.of(List.of()),
                        TopicFormat.OfTopics.CLOUD_EVENTS,
                        UnknownType.SKIP,
                        serializer));
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
