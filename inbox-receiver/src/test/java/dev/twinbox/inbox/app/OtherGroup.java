package dev.twinbox.inbox.app;

import dev.twinbox.InboxHandler;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;

/** The handler of a second application, with the same name on the same events. */
@ApplicationScoped
public class OtherGroup {

    @Inject
    private Script script;

    @InboxHandler(topic = "two", type = "order", name = "H1")
    public void first(Order order) throws Exception {
        script.play("other H1", new Order(order.id(), "", 0));
    }
}
