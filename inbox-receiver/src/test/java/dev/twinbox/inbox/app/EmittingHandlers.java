package dev.twinbox.inbox.app;

import dev.twinbox.CloudEventHeaders;
import dev.twinbox.EventContext;
import dev.twinbox.InboxHandler;
import dev.twinbox.OutboxEvent;
import dev.twinbox.OutboxPublisher;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.util.List;

/** Handlers that publish events. */
@ApplicationScoped
public class EmittingHandlers {

    @Inject
    private Script script;

    @Inject
    private Emitter emitter;

    @Inject
    private OutboxPublisher publisher;

    /** Fails after the publication, if the event asks for it. */
    @InboxHandler(topic = "emitting", type = "order", name = "emitting")
    public void onOrder(Order order) throws Exception {
        emitter.emit(order);
        script.play("emitting", order);
    }

    /** Sets the cause of its event itself. */
    @InboxHandler(topic = "emitting", type = "own", name = "emitting-own")
    public void onOwn(Order order, EventContext context) {
        publisher.publish(OutboxEvent.of(new byte[0])
                .withTopic("out")
                .withType("own.emitted")
                .withKey(context.correlationId())
                .withHeader(CloudEventHeaders.CORRELATION_ID, "correlation of mine")
                .withHeader(CloudEventHeaders.CAUSATION_ID, "cause of mine")
                .withHeader(CloudEventHeaders.TRACE_PARENT, "trace of mine"));
    }

    /** Publishes with as many causes as there are events. */
    @InboxHandler(topic = "emitting", type = "order", name = "emitting-list")
    public void onOrders(List<Order> orders) {
        publisher.publish(OutboxEvent.of(new byte[0]).withTopic("out").withType("list.emitted"));
    }
}
