package dev.twinbox.inbox;

import dev.twinbox.EventSerializer;

/** A serializer for tests whose handlers take the text as it is. */
public final class NoSerializer implements EventSerializer {
    @Override
    public String contentType() {
        return "text/plain";
    }

    @Override
    public byte[] serialize(Object event) {
        throw new UnsupportedOperationException();
    }

    @Override
    public <T> T deserialize(byte[] data, Class<T> type) {
        throw new UnsupportedOperationException();
    }
}
