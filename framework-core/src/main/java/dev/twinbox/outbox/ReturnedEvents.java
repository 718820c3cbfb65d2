package dev.twinbox.outbox;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The events that an {@link dev.twinbox.Outbox} method returned.
 *
 * @param events what to publish, in order
 * @param result what the caller gets: the returned object, or a new stream for a stream, which can be read only once
 */
record ReturnedEvents(List<?> events, @Nullable Object result) {

    static ReturnedEvents of(@Nullable Object returned) {
        if (returned == null) {
            return new ReturnedEvents(List.of(), null);
        }
        if (returned instanceof Optional<?> optional) {
            return new ReturnedEvents(optional.stream().toList(), returned);
        }
        if (returned instanceof Collection<?> collection) {
            return new ReturnedEvents(new ArrayList<>(collection), returned);
        }
        if (returned instanceof Stream<?> stream) {
            try (stream) {
                List<?> elements = stream.toList();
                return new ReturnedEvents(elements, elements.stream());
            }
        }
        return new ReturnedEvents(Collections.singletonList(returned), returned);
    }
}
