package dev.twinbox.tracing;

import dev.twinbox.EventContext;
import jakarta.enterprise.inject.Instance;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Tells a tracing system what is done with events, and events what trace they belong to. Public only for receivers;
 * applications find the trace in their own spans and in the headers of what they publish.
 *
 * <p>Names, kinds and attributes of spans are those of OpenTelemetry's semantic conventions for messaging; see ADR 25.
 */
public sealed interface Tracing permits NoTracing, OpenTelemetryTracing {

    /** What a span is around. */
    @FunctionalInterface
    interface Work {
        void run() throws Throwable;
    }

    /**
     * Tells of an event that is being published: span {@code create <topic>}, below the span that is current on this thread.
     *
     * @param headers of the event; one that has a trace context already keeps it, and gets no span
     * @return the headers, with the span's context
     */
    Map<String, String> created(String topic, @Nullable String key, String type, UUID id, Map<String, String> headers);

    /**
     * Calls the handler of an event within a span {@code process <topic>}, which is current meanwhile and goes on with the
     * event's trace.
     *
     * @param event what came along with it; asked for only if there is to be a span
     * @throws Throwable what the handler throws
     */
    void handle(String group, String handler, Supplier<EventContext> event, Work work) throws Throwable;

    /** The same for a handler of many events: a trace of its own, with a link to that of each event. */
    void handleAll(String group, String handler, Supplier<List<EventContext>> events, Work work) throws Throwable;

    /**
     * That of the server.
     *
     * @param beans of the application, among which the server has put its {@code OpenTelemetry}
     * @return {@link #off()} if it has none, or does not trace
     */
    static Tracing of(Instance<Object> beans) {
        return OpenTelemetryApi.isPresent() ? OpenTelemetryTracing.of(beans) : off();
    }

    /** Makes no spans, and changes nothing. */
    static Tracing off() {
        return NoTracing.INSTANCE;
    }
}
