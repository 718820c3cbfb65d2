package dev.twinbox.inbox.app;

import dev.twinbox.InboxHandler;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;

/** A handler of many events. Those with an action fail until the test has repaired something. */
@ApplicationScoped
public class RepairableHandler {

    @Inject
    private Script script;

    @InboxHandler(topic = "repairable", type = "order", name = "repairable")
    public void onOrder(Order order) throws Exception {
        if (!order.action().isEmpty()) {
            script.execute("select 1 / count(*) from repaired");
        }
        script.writeEffect("repairable", order.id());
    }
}
