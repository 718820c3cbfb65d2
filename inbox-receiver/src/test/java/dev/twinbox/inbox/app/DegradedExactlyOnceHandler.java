package dev.twinbox.inbox.app;

import dev.twinbox.InboxHandler;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;

/** A handler whose delivery contract changes: {@code ExactlyOnce}. */
@ApplicationScoped
public class DegradedExactlyOnceHandler {

    @Inject
    private Script script;

    @InboxHandler(topic = "degraded", type = "order", name = "degraded")
    public void handle(Order order) throws Exception {
        script.play("degraded", order);
    }
}
