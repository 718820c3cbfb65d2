package dev.twinbox.inbox.app;

import dev.twinbox.InboxHandler;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;

/** The handlers after a class was renamed whose name was also the events' type. The alias was forgotten. */
@ApplicationScoped
public class RenamedHandlers {

    @Inject
    private Script script;

    @InboxHandler(topic = "renamed", type = "order.placed", name = "renamed")
    public void onOrder(Order order) throws Exception {
        script.play("renamed", order);
    }
}
