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
 * <p>Used by all threads.
 */
public final class Subscription {

    private static final List<Handler> NONE = List.of();

    private final String group;
    private final Map<String, Map<String, List<Handler>>> handlers;
    private final Aliases aliases;
    private final TopicFormat.OfTopics formats;
    private final UnknownType unknownType;
    private final EventSerializer serializer;
    private final SourceHash sources = new SourceHash();

    /**
     * A subscription of one group.
     *
     * @param handlers by topic and type, in order of the handlers' names; an empty list means that another group of
     *     this application handles the type
     * @param aliases former names of types
     * @param formats the formats of the topics' producers
     * @param unknownType what happens to events that no handler takes
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

    /**
     * The same topic for one of its handlers. The other types are known and have no handler. An event of the handler is
     * claimed, whatever its contract.
     */
    public Subscription only(String topic, String handler) {
        Map<String, List<Handler>> types = new HashMap<>();
        handlers.getOrDefault(topic, Map.of())
                .forEach((type, all) -> types.put(
                        type,
                        all.stream()
                                .filter(each -> each.name().equals(handler))
                                .map(Handler::claiming)
                                .toList()));
        return new Subscription(group, Map.of(topic, types), aliases, formats, unknownType, serializer);
    }

    public String group() {
        return group;
    }

    public Set<String> topics() {
        return handlers.keySet();
    }

    SourceHash sources() {
        return sources;
    }

    EventSerializer serializer() {
        return serializer;
    }

    /** Null if no handler of this instance takes the type. */
    @Nullable List<Handler> handlers(String topic, String type) {
        return handlers.getOrDefault(topic, Map.of()).get(currentName(topic, type));
    }

    /** The current name of the type. */
    String currentName(String topic, String type) {
        return aliases.currentName(topic, type);
    }

    TopicFormat format(String topic) {
        return formats.of(topic);
    }

    /** What happens to events that no handler takes, of this instance or another one. */
    public UnknownType unknownType() {
        return unknownType;
    }

    public static List<Handler> none() {
        return NONE;
    }
}
