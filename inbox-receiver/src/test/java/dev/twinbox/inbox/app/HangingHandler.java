package dev.twinbox.inbox.app;

import dev.twinbox.InboxHandler;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;

/** A handler that some events keep from returning. */
@ApplicationScoped
public class HangingHandler {

    @Inject
    private Script script;

    @InboxHandler(topic = "hanging", type = "order", name = "hanging")
    public void onOrder(Order order) throws Exception {
        script.play("hanging", order);
    }
}
