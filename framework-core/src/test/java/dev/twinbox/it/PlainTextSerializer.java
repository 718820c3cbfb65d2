package dev.twinbox.it;

import dev.twinbox.EventSerializer;
import jakarta.annotation.Priority;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Alternative;
import jakarta.interceptor.Interceptor;
import java.nio.charset.StandardCharsets;

/** An application's own wire format. */
@ApplicationScoped
@Alternative
@Priority(Interceptor.Priority.APPLICATION)
public class PlainTextSerializer implements EventSerializer {

    @Override
    public String contentType() {
        return "text/plain;charset=utf-8";
    }

    @Override
    public byte[] serialize(Object event) {
        return event.toString().getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public <T> T deserialize(byte[] data, Class<T> type) {
        throw new UnsupportedOperationException("not needed for writing");
    }
}
