package dev.twinbox.inbox.app;

import dev.twinbox.InboxHandler;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;

/** The handler of an application whose inbox has odd names, or no tables. */
@ApplicationScoped
public class SchemaHandler {

    @Inject
    private Script script;

    @InboxHandler(topic = "schema", type = "order", name = "schema")
    public void onOrder(Order order) throws Exception {
        script.play("schema", order);
    }
}
