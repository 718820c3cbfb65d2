package dev.twinbox.inbox.app;

import dev.twinbox.InboxHandler;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;

/** Handlers on two topics, of which one has trouble. */
@ApplicationScoped
public class TwoTopicHandlers {

    @Inject
    private Script script;

    @InboxHandler(topic = "first", type = "order", name = "first")
    public void first(Order order) throws Exception {
        script.writeEffect("first", order.id());
    }

    @InboxHandler(topic = "second", type = "order", name = "second")
    public void second(Order order) throws Exception {
        script.writeEffect("second", order.id());
    }
}
