package dev.twinbox.inbox.app;

import dev.twinbox.DeliveryContract;
import dev.twinbox.InboxHandler;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;

/** A handler whose delivery contract changes: {@code AtMostOnce}. */
@ApplicationScoped
public class DegradedAtMostOnceHandler {

    @Inject
    private Script script;

    @InboxHandler(topic = "degraded", type = "order", name = "degraded", delivery = DeliveryContract.AT_MOST_ONCE)
    public void handle(Order order) throws Exception {
        script.play("degraded", order);
    }
}
