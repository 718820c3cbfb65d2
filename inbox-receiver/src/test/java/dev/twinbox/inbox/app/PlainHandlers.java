package dev.twinbox.inbox.app;

import dev.twinbox.EventContext;
import dev.twinbox.InboxHandler;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.util.List;

/** Handlers on a server that was started as users start it. */
@ApplicationScoped
public class PlainHandlers {

    /** A record without annotations. */
    public record Plain(String id, String action, int times) {}

    @Inject
    private Script script;

    @InboxHandler(topic = "micro", type = "order", name = "micro")
    public void onPlain(Plain plain, EventContext context) throws Exception {
        script.play("micro", new Order(context.id(), plain.action(), plain.times()));
    }

    @InboxHandler(topic = "micro", type = "order", name = "micro-list")
    public void onAll(List<Plain> all) throws Exception {
        for (Plain plain : all) {
            script.writeEffect("micro-list", plain.id());
        }
    }
}
