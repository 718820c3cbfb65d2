package dev.twinbox.inbox.app;

import dev.twinbox.InboxHandler;
import jakarta.ejb.Stateless;
import jakarta.inject.Inject;

/** Two handlers of one topic, of which one is called again. */
@Stateless
public class ReplayedHandlers {

    @Inject
    private Script script;

    @InboxHandler(topic = "replayed", type = "order", name = "replayed")
    public void onOrder(Order order) throws Exception {
        script.play("replayed", order);
    }

    @InboxHandler(topic = "replayed", type = "order", name = "untouched")
    public void onOrderToo(Order order) throws Exception {
        script.play("untouched", order);
    }
}
