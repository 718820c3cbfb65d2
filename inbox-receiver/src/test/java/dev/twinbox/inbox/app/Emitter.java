package dev.twinbox.inbox.app;

import dev.twinbox.Outbox;
import dev.twinbox.OutboxEvent;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.transaction.Transactional;

/** Publishes events in its caller's transaction. */
@ApplicationScoped
public class Emitter {

    @Outbox(topic = "out", type = "order.emitted")
    @Transactional(Transactional.TxType.MANDATORY)
    public OutboxEvent emit(Order order) {
        return OutboxEvent.of(new byte[0])
                .withKey(order.id()); // not a record, for the same reason as Order's annotations
    }
}
