package dev.twinbox.inbox.app;

import dev.twinbox.InboxHandler;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;

/** Handlers of applications whose inbox is bounded. */
@ApplicationScoped
public class BoundedHandlers {

    @Inject
    private Script script;

    @InboxHandler(topic = "bounded", type = "order", name = "bounded")
    public void onOrder(Order order) throws Exception {
        script.play("bounded", order);
    }
}
