package dev.twinbox.inbox.app;

import dev.twinbox.InboxHandler;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;

/** The handler of an application with many passwords. */
@ApplicationScoped
public class SecretiveHandler {

    @Inject
    private Script script;

    @InboxHandler(topic = "secretive", type = "order", name = "secretive")
    public void onOrder(Order order) throws Exception {
        script.play("secretive", order);
    }
}
