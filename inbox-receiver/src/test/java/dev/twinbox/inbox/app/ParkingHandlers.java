package dev.twinbox.inbox.app;

import dev.twinbox.EventContext;
import dev.twinbox.InboxHandler;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;

/** Handlers of an application whose events fail in many ways. */
@ApplicationScoped
public class ParkingHandlers {

    /** A record without annotations. JSON-B reads it only if the server sees all of JSON-B's classes. */
    public record Plain(String id) {}

    @Inject
    private Script script;

    @InboxHandler(topic = "parking", type = "order", name = "parking")
    public void onOrder(Order order, EventContext context) throws Exception {
        script.play("parking", order);
    }

    @InboxHandler(topic = "parking", type = "order", name = "healthy")
    public void onOrderToo(Order order) throws Exception {
        script.play("healthy", new Order(order.id(), "", 0));
    }

    @InboxHandler(topic = "parking", type = "plain", name = "plain")
    public void onPlain(Plain plain) throws Exception {
        script.play("plain", new Order(plain.id(), "", 0));
    }
}
