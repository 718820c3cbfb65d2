package dev.twinbox.inbox.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.EventSerializer;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/**
 * A handler of {@code byte[]} wiped the array and failed. The event was parked with the wiped bytes, and its next attempt
 * got them.
 */
class Fault11OwnBytesTest {

    private static final Handler BYTES = Fault10OwnObjectTest.handler("bytes", byte[].class);

    /** Keeps the array that it was given, as a serializer may. */
    private static final EventSerializer KEEPING = new EventSerializer() {
        @Override
        public byte[] serialize(Object payload) {
            throw new UnsupportedOperationException();
        }

        @Override
        public <T> T deserialize(byte[] data, Class<T> type) {
            return type.cast(new Object[] {data});
        }

        @Override
        public String contentType() {
            return "application/octet-stream";
        }
    };

    @Test
    void aHandlerGetsACopyOfTheBytes() {
        ReceivedEvent event = Fault10OwnObjectTest.event("secret");

        byte[] first = (byte[]) event.eventFor(BYTES);
        Arrays.fill(first, (byte) 0);

        assertThat(event.record().value()).asString().isEqualTo("secret");
        assertThat((byte[]) event.eventFor(BYTES)).asString().isEqualTo("secret");
    }

    @Test
    void aSerializerMayKeepItsArray() {
        ReceivedEvent event = Fault10OwnObjectTest.event("secret", KEEPING);

        Object[] first = (Object[]) event.eventFor(Fault10OwnObjectTest.handler("kept", Object[].class));
        Arrays.fill((byte[]) first[0], (byte) 0);

        assertThat(event.record().value()).asString().isEqualTo("secret");
    }
}
