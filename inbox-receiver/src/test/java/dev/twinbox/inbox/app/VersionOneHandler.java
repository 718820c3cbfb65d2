package dev.twinbox.inbox.app;

import dev.twinbox.InboxHandler;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;

/** What both versions of an application have. */
@ApplicationScoped
public class VersionOneHandler {

    @Inject
    private Script script;

    @InboxHandler(topic = "rolling", type = "v1", name = "one")
    public void on(Order order) throws Exception {
        script.play("one", order);
    }
}
