package dev.twinbox.inbox.event;

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
public final class Subscription {

    private static final List<Handler> NONE = List.of();

    private final String group;
    private final Map<String, Map<String, List<Handler>>> handlers;
    private final Aliases aliases;
    private final TopicFormat.OfTopics formats;
    private final UnknownType unknownType;
    private final EventSerializer serializer;

    /**
     * A subscription of one group.
     *
     * @param handlers by topic and type, each list in order of the handlers' names; a type with an empty list is known and
     *     left to another group of this application
     * @param aliases former names of types
     * @param formats how the topics' producers write
     * @param unknownType what becomes of events that are for no handler
     */
    public Subscription(
            String group,
            Map<String, Map<String, List<Handler>>> handlers,
            Aliases aliases,
            TopicFormat.OfTopics formats,
            UnknownType unknownType,
            EventSerializer serializer) {
        this.group = group;
        this.handlers = new HashMap<>(handlers);
        this.aliases = aliases;
        this.formats = formats;
        this.unknownType = unknownType;
        this.serializer = serializer;
    }

    public String group() {
        return group;
    }

    public Set<String> topics() {
        return handlers.keySet();
    }

    EventSerializer serializer() {
        return serializer;
    }

    /** Null: no handler of the application takes the type. */
    @Nullable List<Handler> handlers(String topic, String type) {
        return handlers.getOrDefault(topic, Map.of()).get(currentName(topic, type));
    }

    /** What the type is called today. */
    String currentName(String topic, String type) {
        return aliases.currentName(topic, type);
    }

    TopicFormat format(String topic) {
        return formats.of(topic);
    }

    UnknownType unknownType() {
        return unknownType;
    }

    public static List<Handler> none() {
        return NONE;
    }
}
