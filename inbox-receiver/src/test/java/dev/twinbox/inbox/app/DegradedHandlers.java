package dev.twinbox.inbox.app;

import dev.twinbox.DeliveryContract;
import dev.twinbox.InboxHandler;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;

/** A handler before and after its contract was changed. */
public final class DegradedHandlers {

    private DegradedHandlers() {}

    @ApplicationScoped
    public static class ExactlyOnce {
        @Inject
        private Script script;

        @InboxHandler(topic = "degraded", type = "order", name = "degraded")
        public void handle(Order order) throws Exception {
            script.play("degraded", order);
        }
    }

    @ApplicationScoped
    public static class AtMostOnce {
        @Inject
        private Script script;

        @InboxHandler(topic = "degraded", type = "order", name = "degraded", delivery = DeliveryContract.AT_MOST_ONCE)
        public void handle(Order order) throws Exception {
            script.play("degraded", order);
        }
    }
}
