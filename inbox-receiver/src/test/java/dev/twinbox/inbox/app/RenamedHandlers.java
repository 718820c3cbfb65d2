package dev.twinbox.inbox.app;

import dev.twinbox.InboxHandler;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;

/** After a class was renamed, by somebody who forgot that its name was the events' type. */
@ApplicationScoped
public class RenamedHandlers {

    @Inject
    private Script script;

    @InboxHandler(topic = "renamed", type = "order.placed", name = "renamed")
    public void onOrder(Order order) throws Exception {
        script.play("renamed", order);
    }
}
