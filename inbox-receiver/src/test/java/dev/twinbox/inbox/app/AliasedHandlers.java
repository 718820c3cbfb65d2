package dev.twinbox.inbox.app;

import dev.twinbox.InboxHandler;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;

/** {@link RenamedHandlers} with the missing alias added. */
@ApplicationScoped
public class AliasedHandlers {

    @Inject
    private Script script;

    @InboxHandler(topic = "renamed", type = "order.placed", name = "renamed", aliases = "a.b.Old")
    public void onOrder(Order order) throws Exception {
        script.play("renamed", order);
    }
}
