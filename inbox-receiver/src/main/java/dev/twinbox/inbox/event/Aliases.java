package dev.twinbox.inbox.event;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Former names of types, topic by topic. A former name stands for the type, not for a handler: whoever handles the type gets what
 * still carries the old name.
 *
 * @param byTopic current name by former name
 */
public record Aliases(Map<String, Map<String, String>> byTopic) {

    public static final Aliases NONE = new Aliases(Map.of());

    public static Aliases of(List<HandlerMethod> handlers) {
        Map<String, Map<String, String>> byTopic = new HashMap<>();
        for (HandlerMethod handler : handlers) {
            for (String alias : handler.aliases()) {
                byTopic.computeIfAbsent(handler.topic(), t -> new HashMap<>()).put(alias, handler.type());
            }
        }
        return new Aliases(byTopic);
    }

    String currentName(String topic, String type) {
        return byTopic.getOrDefault(topic, Map.of()).getOrDefault(type, type);
    }

    /**
     * Aliases that are ambiguous; one sentence each.
     *
     * <p><b>Remedy.</b> Remove one of the two names.
     */
    static List<String> problems(List<HandlerMethod> handlers) {
        List<String> problems = new ArrayList<>();
        Map<List<String>, String> owners = new HashMap<>();
        Set<List<String>> types = new HashSet<>();
        handlers.forEach(handler -> types.add(List.of(handler.topic(), handler.type())));
        for (HandlerMethod handler : handlers) {
            for (String alias : handler.aliases()) {
                List<String> name = List.of(handler.topic(), alias);
                String where = "alias \"" + alias + "\" of type " + handler.type() + " on topic " + handler.topic()
                        + " (handler " + handler.name() + ")";
                if (types.contains(name)) {
                    problems.add(where
                            + " is the name of a type that is handled there; an alias is a name no longer in use");
                }
                String owner = owners.putIfAbsent(name, handler.type());
                if (owner != null && !owner.equals(handler.type())) {
                    problems.add(where + " is an alias of type " + owner + ", too; an alias leads to one type");
                }
            }
        }
        return problems;
    }
}
