package dev.twinbox.inbox;

import dev.twinbox.EventSerializer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What one consumer group of the application reads, and which handlers get it.
 *
 * <p>Immutable, used by all threads.
 */
final class Subscription {

    private static final List<Handler> NONE = List.of();

    private final String group;
    private final Map<String, Map<String, List<Handler>>> handlers;
    private final EventSerializer serializer;

    /**
     * @param handlers by topic and type, each list in order of the handlers' names; a type with an empty list is known and
     *     left to another group of this application
     */
    Subscription(String group, Map<String, Map<String, List<Handler>>> handlers, EventSerializer serializer) {
        this.group = group;
        this.handlers = new HashMap<>(handlers);
        this.serializer = serializer;
    }

    String group() {
        return group;
    }

    Set<String> topics() {
        return handlers.keySet();
    }

    EventSerializer serializer() {
        return serializer;
    }

    /** Null: nobody in the application handles the type. */
    @Nullable List<Handler> handlers(String topic, String type) {
        return handlers.getOrDefault(topic, Map.of()).get(type);
    }

    static List<Handler> none() {
        return NONE;
    }
}
