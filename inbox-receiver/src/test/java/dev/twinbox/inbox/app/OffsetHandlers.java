package dev.twinbox.inbox.app;

import dev.twinbox.DeliveryContract;
import dev.twinbox.InboxHandler;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;

/** One handler of each contract on one topic. */
@ApplicationScoped
public class OffsetHandlers {

    @Inject
    private Script script;

    @InboxHandler(topic = "offsets", type = "order", name = "once")
    public void once(Order order) throws Exception {
        script.writeEffect("once", order.id());
    }

    @InboxHandler(topic = "offsets", type = "order", name = "atLeastOnce", delivery = DeliveryContract.AT_LEAST_ONCE)
    public void atLeastOnce(Order order) throws Exception {
        script.writeEffect("atLeastOnce", order.id());
    }

    @InboxHandler(topic = "offsets", type = "order", name = "atMostOnce", delivery = DeliveryContract.AT_MOST_ONCE)
    public void atMostOnce(Order order) throws Exception {
        script.writeEffect("atMostOnce", order.id());
    }
}
