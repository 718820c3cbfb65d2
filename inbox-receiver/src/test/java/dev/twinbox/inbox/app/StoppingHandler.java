package dev.twinbox.inbox.app;

import dev.twinbox.InboxHandler;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;

/** The handler on a server that is stopped. */
@ApplicationScoped
public class StoppingHandler {

    @Inject
    private Script script;

    @InboxHandler(topic = "stopping", type = "order", name = "stopping")
    public void onOrder(Order order) throws Exception {
        script.play("stopping", order);
    }
}
