package dev.twinbox.inbox.app;

import dev.twinbox.InboxHandler;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;

/** The handler of an application that was down longer than its topic keeps records. */
@ApplicationScoped
public class RangeHandler {

    @Inject
    private Script script;

    @InboxHandler(topic = "range", type = "order", name = "range")
    public void onOrder(Order order) throws Exception {
        script.play("range", order);
    }
}
