package dev.twinbox.inbox.app;

import dev.twinbox.DeliveryContract;
import dev.twinbox.InboxHandler;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;

/** Guarded handlers of two applications in one group. */
@ApplicationScoped
public class GuardedHandlers {

    @Inject
    private Script script;

    @InboxHandler(topic = "guarded", type = "order", name = "guarded", guard = true)
    public void onOrder(Order order) throws Exception {
        script.play("guarded", order);
    }

    @InboxHandler(
            topic = "guarded",
            type = "note",
            name = "guarded-repeating",
            delivery = DeliveryContract.AT_LEAST_ONCE,
            guard = true)
    public void onNote(Order order) throws Exception {
        script.play("guarded-repeating", order);
    }
}
