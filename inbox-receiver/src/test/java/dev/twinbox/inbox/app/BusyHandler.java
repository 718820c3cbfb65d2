package dev.twinbox.inbox.app;

import dev.twinbox.InboxHandler;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;

/** A handler of many events. */
@ApplicationScoped
public class BusyHandler {

    @Inject
    private Script script;

    @InboxHandler(topic = "busy", type = "order", name = "busy")
    public void onOrder(Order order) throws Exception {
        script.play("busy", order);
    }
}
