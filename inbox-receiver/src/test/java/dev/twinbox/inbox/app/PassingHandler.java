package dev.twinbox.inbox.app;

import dev.twinbox.InboxHandler;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;

/** The handler of an application that is deployed and undeployed. */
@ApplicationScoped
public class PassingHandler {

    @Inject
    private Script script;

    @InboxHandler(topic = "passing", type = "order", name = "passing")
    public void onOrder(Order order) throws Exception {
        script.play("passing", order);
    }
}
