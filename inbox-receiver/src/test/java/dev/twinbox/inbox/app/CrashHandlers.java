package dev.twinbox.inbox.app;

import dev.twinbox.DeliveryContract;
import dev.twinbox.InboxHandler;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;

/** Handlers on a server that is killed. */
@ApplicationScoped
public class CrashHandlers {

    @Inject
    private Script script;

    @InboxHandler(topic = "crash", type = "order", name = "crash-once")
    public void once(Order order) throws Exception {
        script.play("crash-once", order);
    }

    @InboxHandler(
            topic = "crash",
            type = "order",
            name = "crash-at-most-once",
            delivery = DeliveryContract.AT_MOST_ONCE)
    public void atMostOnce(Order order) throws Exception {
        script.play("crash-at-most-once", order);
    }
}
