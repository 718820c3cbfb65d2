package dev.twinbox.inbox.app;

import dev.twinbox.InboxHandler;
import jakarta.ejb.Stateless;
import jakarta.inject.Inject;

/** Two handlers of one topic, and one of another topic. */
@Stateless
public class PausableHandlers {

    @Inject
    private Script script;

    @InboxHandler(topic = "paused-parked", type = "order", name = "parked")
    public void onOrder(Order order) throws Exception {
        script.play("parked", order);
    }

    @InboxHandler(topic = "paused-parked", type = "order", name = "steady")
    public void onOrderToo(Order order) throws Exception {
        script.play("steady", order);
    }

    @InboxHandler(topic = "paused-held", type = "order", name = "held")
    public void onOrderOfHeldTopic(Order order) throws Exception {
        script.play("held", order);
    }
}
