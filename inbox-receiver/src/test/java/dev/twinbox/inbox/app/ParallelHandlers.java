package dev.twinbox.inbox.app;

import dev.twinbox.DeliveryContract;
import dev.twinbox.InboxHandler;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;

/** Handlers of applications with several lanes. */
@ApplicationScoped
public class ParallelHandlers {

    @Inject
    private Script script;

    @InboxHandler(topic = "parallel", type = "order", name = "parallel")
    public void onOrder(Order order) throws Exception {
        handle("parallel", order);
    }

    @InboxHandler(topic = "moving", type = "order", name = "moving")
    public void onMoving(Order order) throws Exception {
        handle("moving", order);
    }

    /** Stores only calls that have an action, because there are many calls. */
    private void handle(String handler, Order order) throws Exception {
        if (order.action().isEmpty()) {
            script.writeEffect(handler, order.id());
        } else {
            script.play(handler, order);
        }
    }

    @InboxHandler(topic = "moving", type = "order", name = "snapshot", delivery = DeliveryContract.AT_LEAST_ONCE)
    public void onSnapshot(Order order) throws Exception {
        script.writeEffect("snapshot", order.id());
    }
}
