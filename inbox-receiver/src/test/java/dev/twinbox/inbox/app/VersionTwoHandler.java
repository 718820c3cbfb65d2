package dev.twinbox.inbox.app;

import dev.twinbox.InboxHandler;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;

/** What only the new version of an application has. */
@ApplicationScoped
public class VersionTwoHandler {

    @Inject
    private Script script;

    @InboxHandler(topic = "rolling", type = "v2", name = "two")
    public void on(Order order) throws Exception {
        script.play("two", order);
    }
}
