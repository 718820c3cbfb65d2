package dev.twinbox.inbox.app;

import dev.twinbox.InboxHandler;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.util.List;
import java.util.stream.Collectors;

/** A slow handler, for the time limit of a batch. */
@ApplicationScoped
public class SlowHandler {

    @Inject
    private Script script;

    @InboxHandler(topic = "slow", type = "order")
    public void onOrder(Order order) throws Exception {
        script.play("SlowHandler.onOrder", order);
    }

    @InboxHandler(topic = "slow", type = "order")
    public void onBatch(List<Order> orders) throws Exception {
        script.writeEffect("SlowHandler.onBatch", orders.stream().map(Order::id).collect(Collectors.joining(" ")));
    }
}
