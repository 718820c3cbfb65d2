package dev.twinbox.inbox.app;

import dev.twinbox.InboxHandler;
import jakarta.ejb.Stateless;
import jakarta.inject.Inject;

/** Writes an effect before and after a step that may run into the timeout. */
@Stateless
public class TimeoutHandler {

    @Inject
    private Script script;

    @Inject
    private Emitter emitter;

    @InboxHandler(topic = "timeout", type = "order")
    public void onOrder(Order order) throws Exception {
        emitter.emit(order);
        script.play("timeout-first", order);
        script.writeEffect("timeout-second", order.id());
    }
}
