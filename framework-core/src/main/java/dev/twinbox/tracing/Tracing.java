package dev.twinbox.tracing;

import dev.twinbox.EventContext;
import dev.twinbox.config.ServerApis;
import jakarta.enterprise.inject.Instance;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Reports to a tracing system what is done with events, and writes their trace into their headers. Public only for
 * receivers. Applications find the trace in their own spans and in the headers of what they publish.
 *
 * <p>Names, kinds and attributes of spans are those of OpenTelemetry's semantic conventions for messaging; see ADR 25.
 */
public sealed interface Tracing permits NoTracing, OpenTelemetryTracing {

    /** What is done within a span. */
    @FunctionalInterface
    interface Work {
        void run() throws Throwable;
    }

    /**
     * Reports an event that is being published: span {@code create <topic>}, child of the thread's current span.
     *
     * @param headers of the event. An event that already has a trace context keeps it and gets no span
     * @return the headers, with the span's context
     */
    Map<String, String> created(String topic, @Nullable String key, String type, UUID id, Map<String, String> headers);

    /**
     * Calls the handler of an event within a span {@code process <topic>}, which continues the event's trace and is
     * current meanwhile.
     *
     * @param event its context, asked for only if there is to be a span
     * @throws Throwable what the handler throws
     */
    void handle(String group, String handler, Supplier<EventContext> event, Work work) throws Throwable;

    /** As {@link #handle}, for a handler of many events: a new trace, with a link to that of each event. */
    void handleAll(String group, String handler, Supplier<List<EventContext>> events, Work work) throws Throwable;

    /**
     * Tracing by the server.
     *
     * @param beans of the application; the server's {@code OpenTelemetry} is one of them
     * @return {@link #off()} if the server has none, or does not trace
     */
    static Tracing of(Instance<Object> beans) {
        return ServerApis.haveOpenTelemetry() ? OpenTelemetryTracing.of(beans) : off();
    }

    /** Makes no spans, and changes nothing. */
    static Tracing off() {
        return NoTracing.INSTANCE;
    }
}
