package dev.twinbox.outbox;

import dev.twinbox.CloudEventHeaders;
import dev.twinbox.EventContext;
import dev.twinbox.tracing.Tracing;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The event that this thread is handling. Events that the handler publishes get its causation id, correlation id and
 * trace context. Public only for the receiver, which says what is handled. Applications find the result in the headers
 * of what they publish.
 */
public final class Cause {

    /** W3C asks everybody to pass on 512 characters of a trace state. No id should be longer. */
    private static final int LONGEST_VALUE = 512;

    /** W3C Trace Context. Later versions may append something. Ids of zeros only are invalid. */
    private static final Pattern TRACE_PARENT =
            Pattern.compile("(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?");

    private static final String ATTRIBUTE_OF_TRACE_PARENT = CloudEventHeaders.PREFIX + CloudEventHeaders.TRACE_PARENT;
    private static final String ATTRIBUTE_OF_TRACE_STATE = CloudEventHeaders.PREFIX + CloudEventHeaders.TRACE_STATE;

    /** A supplier, since most handlers publish nothing and need no context. */
    private static final ThreadLocal<@Nullable Supplier<EventContext>> CURRENT = new ThreadLocal<>();

    private Cause() {}

    /**
     * Runs the handling of an event.
     *
     * @param event its context, asked for only when something is published
     * @throws Throwable what the work throws
     */
    public static void of(Supplier<EventContext> event, Tracing.Work work) throws Throwable {
        Supplier<EventContext> outer = CURRENT.get();
        CURRENT.set(event);
        try {
            work.run();
        } finally {
            if (outer == null) {
                CURRENT.remove(); // the thread is the server's
            } else {
                CURRENT.set(outer);
            }
        }
    }

    /** Adds the ids and the trace context. What the application has set stays as it is. */
    static Map<String, String> addTo(Map<String, String> headers) {
        Supplier<EventContext> event = CURRENT.get();
        if (event == null) {
            return headers;
        }
        EventContext cause = event.get();
        Map<String, String> more = new LinkedHashMap<>(headers);
        more.putIfAbsent(CloudEventHeaders.CAUSATION_ID, cause.id());
        String correlation = usable(cause.headers().get(CloudEventHeaders.CORRELATION_ID));
        more.putIfAbsent(CloudEventHeaders.CORRELATION_ID, correlation == null ? cause.id() : correlation);
        addTrace(cause.headers(), more);
        return more;
    }

    /** Adds both or none: a trace state belongs to its parent. */
    private static void addTrace(Map<String, String> from, Map<String, String> to) {
        if (to.containsKey(CloudEventHeaders.TRACE_PARENT) || to.containsKey(CloudEventHeaders.TRACE_STATE)) {
            return;
        }
        String plain = usable(from.get(CloudEventHeaders.TRACE_PARENT));
        String parent = plain == null ? usable(from.get(ATTRIBUTE_OF_TRACE_PARENT)) : plain;
        String state = usable(from.get(plain == null ? ATTRIBUTE_OF_TRACE_STATE : CloudEventHeaders.TRACE_STATE));
        if (parent != null && TRACE_PARENT.matcher(parent).matches()) {
            to.put(CloudEventHeaders.TRACE_PARENT, parent);
            if (state != null) {
                to.put(CloudEventHeaders.TRACE_STATE, state);
            }
        }
    }

    /**
     * Null for a value that could make this event fail, by its size or in the database. Other producers write anything.
     */
    private static @Nullable String usable(@Nullable String value) {
        return value == null
                        || value.isEmpty()
                        || value.length() > LONGEST_VALUE
                        || value.chars().anyMatch(Character::isISOControl)
                ? null
                : value;
    }
}
