package dev.twinbox;

import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Which of the events that a handler has had its effect of; for a replay on purpose.
 *
 * <pre>{@code
 * Handled.by("shipping").from(yesterday).to(now)
 * Handled.by("shipping").withIds(List.of("0193…"))
 * }</pre>
 *
 * @param handler name of the handler, see {@link InboxHandler#name}
 * @param from only events handled at this time or later, by the database's clock; null: from the first on
 * @param to only events handled before this time; null: to the last
 * @param ids only events of these ids; null: of all
 * @param source only events of this CloudEvents source, and those stored without one; null: of all
 */
public record Handled(
        String handler,
        @Nullable Instant from,
        @Nullable Instant to,
        @Nullable List<String> ids,
        @Nullable String source) {

    /** @throws IllegalArgumentException if nothing could be meant by it */
    public Handled {
        if (handler.isEmpty()) {
            throw new IllegalArgumentException("the handler's name is empty: name a handler");
        }
        if (from != null && to != null && !from.isBefore(to)) {
            throw new IllegalArgumentException("from " + from + " is not before " + to + ": choose an earlier one");
        }
        if (ids != null) {
            if (from != null || to != null) {
                throw new IllegalArgumentException(
                        "events are chosen by their ids or by time, not by both: leave one out");
            }
            if (ids.isEmpty() || ids.contains("")) {
                throw new IllegalArgumentException("there are no ids, or one of them is empty: give at least one id");
            }
            ids = List.copyOf(new TreeSet<>(ids));
        }
        if (source != null && source.isEmpty()) {
            throw new IllegalArgumentException("the source is empty: leave it out or name one");
        }
    }

    /** All events of a handler. */
    public static Handled by(String handler) {
        return new Handled(handler, null, null, null, null);
    }

    /** Only those handled at this time or later. */
    public Handled from(@Nullable Instant time) {
        return new Handled(handler, time, to, ids, source);
    }

    /** Only those handled before this time. */
    public Handled to(@Nullable Instant time) {
        return new Handled(handler, from, time, ids, source);
    }

    /** Only those of these ids. */
    public Handled withIds(Collection<String> values) {
        return new Handled(handler, from, to, List.copyOf(values), source);
    }

    /** Only those of this CloudEvents source. Events that were stored without a source are among them. */
    public Handled withSource(@Nullable String value) {
        return new Handled(handler, from, to, ids, value);
    }
}
