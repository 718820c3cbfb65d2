package dev.twinbox.tracing;

import dev.twinbox.CloudEventHeaders;
import io.opentelemetry.context.propagation.TextMapGetter;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes a trace context into the headers of an event, and reads it. */
final class TraceHeaders {

    /** W3C's limit for baggage. A trace state has at most 512. */
    private static final int LONGEST_VALUE = 8192;

    /** Also reads the attributes of CloudEvents' extension "Distributed tracing", all of them or none. */
    static final TextMapGetter<Map<String, String>> GETTER = new TextMapGetter<>() {
        @Override
        public Iterable<String> keys(Map<String, String> headers) {
            return headers.keySet();
        }

        @Override
        public @Nullable String get(@Nullable Map<String, String> headers, String name) {
            if (headers == null) {
                return null;
            }
            boolean plain = headers.containsKey(CloudEventHeaders.TRACE_PARENT) || !isW3c(name);
            return headers.get(plain ? name : CloudEventHeaders.PREFIX + name);
        }
    };

    private TraceHeaders() {}

    private static boolean isW3c(String name) {
        return name.equals(CloudEventHeaders.TRACE_PARENT) || name.equals(CloudEventHeaders.TRACE_STATE);
    }

    /** What the application has set stays. What cannot be stored is left out: a trace must not stop an event. */
    static void put(@Nullable Map<String, String> headers, String name, String value) {
        boolean storable = value.length() <= LONGEST_VALUE && value.chars().noneMatch(c -> c < ' ' || c > '~');
        if (headers != null && storable && !value.isEmpty() && !CloudEventHeaders.isReserved(name)) {
            headers.putIfAbsent(name, value);
        }
    }
}
