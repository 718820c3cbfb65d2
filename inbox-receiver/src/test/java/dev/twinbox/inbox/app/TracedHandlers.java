package dev.twinbox.inbox.app;

import dev.twinbox.CloudEventHeaders;
import dev.twinbox.InboxHandler;
import dev.twinbox.OutboxEvent;
import dev.twinbox.OutboxPublisher;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.util.List;

/** Handlers that publish events. */
@ApplicationScoped
public class TracedHandlers {

    /** A trace context of the application's own. */
    public static final String OWN = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    @Inject
    private Script script;

    @Inject
    private Emitter emitter;

    @Inject
    private OutboxPublisher publisher;

    @InboxHandler(topic = "traced", type = "order", name = "traced")
    public void onOrder(Order order) throws Exception {
        emitter.emit(order);
        script.play("traced", order);
    }

    /** Leaves a trace context on the thread. */
    @InboxHandler(topic = "traced", type = "leaking", name = "traced-leaking")
    public void onLeaking(Order order) {
        SpanContext forgotten = SpanContext.create(
                "4bf92f3577b34da6a3ce929d0e0e4736",
                "00f067aa0ba902b7",
                TraceFlags.getSampled(),
                TraceState.getDefault());
        Scope never = Context.current().with(Span.wrap(forgotten)).makeCurrent();
        assert never != null;
    }

    @InboxHandler(topic = "traced", type = "own", name = "traced-own")
    public void onOwn(Order order) {
        publisher.publish(OutboxEvent.of(new byte[0])
                .withTopic("out")
                .withType("own.emitted")
                .withKey(order.id())
                .withHeader(CloudEventHeaders.TRACE_PARENT, OWN));
    }

    @InboxHandler(topic = "traced", type = "many", name = "traced-many")
    public void onMany(List<Order> orders) {}
}
