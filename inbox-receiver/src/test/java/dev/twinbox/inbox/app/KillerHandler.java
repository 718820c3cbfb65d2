package dev.twinbox.inbox.app;

import dev.twinbox.InboxHandler;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;

/** The handler of an application that an event kills. */
@ApplicationScoped
public class KillerHandler {

    @Inject
    private Script script;

    @InboxHandler(topic = "killer", type = "order", name = "killer")
    public void onOrder(Order order) throws Exception {
        script.play("killer", order);
    }
}
