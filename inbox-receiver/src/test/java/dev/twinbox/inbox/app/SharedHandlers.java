package dev.twinbox.inbox.app;

import dev.twinbox.HandlerTransaction;
import dev.twinbox.InboxHandler;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;

/** One handler shares its transactions with its batch, the other one does not. */
@ApplicationScoped
public class SharedHandlers {

    @Inject
    private Script script;

    @InboxHandler(topic = "batch", type = "order", name = "batch")
    public void onOrder(Order order) throws Exception {
        script.writeEffect("batch", order.id());
    }

    @InboxHandler(
            topic = "per-event",
            type = "order",
            name = "per-event",
            transaction = HandlerTransaction.PER_EVENT,
            timeout = "PT1M")
    public void onOrderAlone(Order order) throws Exception {
        script.writeEffect("per-event", order.id());
    }
}
