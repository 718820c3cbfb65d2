package dev.twinbox.inbox.app;

import dev.twinbox.DeliveryContract;
import dev.twinbox.InboxHandler;
import jakarta.enterprise.context.ApplicationScoped;

/** Handlers of topics that keep records longer than the application keeps its inbox rows. */
@ApplicationScoped
public class LongTopicHandlers {

    @InboxHandler(topic = "long", type = "order", name = "long")
    public void onLong(Order order) {}

    @InboxHandler(topic = "compacted", type = "order", name = "compacted")
    public void onCompacted(Order order) {}

    @InboxHandler(topic = "snapshots", type = "order", name = "snapshots", delivery = DeliveryContract.AT_LEAST_ONCE)
    public void onSnapshot(Order order) {}
}
