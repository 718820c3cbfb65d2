package dev.twinbox.inbox.console;

import dev.twinbox.TopicName;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an operator pauses or resumes.
 *
 * @param topics legal names; one of the two lists is not empty
 * @param handlers names of handlers
 * @param group only of this group of an application; null: of each group that has them
 */
public record PauseSelection(
        List<String> topics,
        List<String> handlers,
        @Nullable String group) {

    /**
     * Each name once.
     *
     * @throws IllegalArgumentException if a name is illegal, or nothing is selected
     */
    public static PauseSelection of(Collection<String> topics, Collection<String> handlers, @Nullable String group) {
        if (topics.isEmpty() && handlers.isEmpty()) {
            throw new IllegalArgumentException("nothing is selected: give topics, handlers or both");
        }
        topics.forEach(TopicName::check);
        if (handlers.contains("") || "".equals(group)) {
            throw new IllegalArgumentException("a handler or a group has no name: give one, or leave it out");
        }
        return new PauseSelection(
                topics.stream().distinct().toList(),
                handlers.stream().distinct().toList(),
                group);
    }
}
