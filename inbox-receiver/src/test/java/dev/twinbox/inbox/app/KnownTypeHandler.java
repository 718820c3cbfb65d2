package dev.twinbox.inbox.app;

import dev.twinbox.InboxHandler;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;

/** Takes one of several types on its topic. */
@ApplicationScoped
public class KnownTypeHandler {

    @Inject
    private Script script;

    @InboxHandler(topic = "unknowing", type = "order.v1", name = "unknowing")
    public void onOrder(Order order) throws Exception {
        script.play("unknowing", order);
    }
}
