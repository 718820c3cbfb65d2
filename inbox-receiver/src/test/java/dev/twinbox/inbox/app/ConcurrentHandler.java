package dev.twinbox.inbox.app;

import dev.twinbox.InboxHandler;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;

/** The handler of two applications in one group. */
@ApplicationScoped
public class ConcurrentHandler {

    @Inject
    private Script script;

    @InboxHandler(topic = "conc", type = "order", name = "concurrent")
    public void onOrder(Order order) throws Exception {
        script.play("concurrent", order);
    }
}
