package dev.twinbox.tracing;

import dev.twinbox.EventContext;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** For servers that do not trace. */
final class NoTracing implements Tracing {

    static final Tracing INSTANCE = new NoTracing();

    private NoTracing() {}

    @Override
    public Map<String, String> created(
            String topic, @Nullable String key, String type, UUID id, Map<String, String> headers) {
        return headers;
    }

    @Override
    public void handle(String group, String handler, Supplier<EventContext> event, Work work) throws Throwable {
        work.run();
    }

    @Override
    public void handleAll(String group, String handler, Supplier<List<EventContext>> events, Work work)
            throws Throwable {
        work.run();
    }
}
