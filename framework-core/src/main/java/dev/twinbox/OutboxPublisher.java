package dev.twinbox;

import dev.twinbox.outbox.TransactionOutbox;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.UUID;

/**
 * Publishes events in the caller's JTA transaction, by hand; {@link Outbox} does the same with what a method returns.
 *
 * <pre>{@code
 * @Inject OutboxPublisher publisher;
 *
 * public void place(Cart cart) {
 *   Order order = orders.save(new Order(cart));
 *   publisher.publish(OutboxEvent.of(new OrderPlaced(order.id())).withHeader("traceparent", parent));
 * }
 * }</pre>
 *
 * <p><b>Commit and rollback.</b> An event is published if and only if the transaction commits. In a transaction that is
 * already marked for rollback it is checked, gets its id, and goes down with the transaction.
 *
 * <p><b>When.</b> Events are serialized and checked at the call, kept in memory, and written just before the transaction
 * commits, after the flush of a JPA provider. Publishing is allowed during that flush too, from an entity listener.
 * Events of one transaction are kept in the order of the calls.
 *
 * <p><b>Cost.</b> A call: one serialization, no round trip. A transaction: one statement and one round trip for up to 100
 * events, two round trips above, through a connection of the configured data source that takes part in the transaction,
 * and no further commit.
 *
 * <p><b>Start.</b> Configuration, data source, tables, columns and privileges are checked when the application is
 * deployed; what is wrong fails the deployment. A database that can not be reached then is an outage and no mistake: the
 * application starts with a warning, and the first transaction that publishes checks the tables.
 *
 * <p><b>Failures.</b> {@link InvalidEventException} at the call for an event that can not be sent as it is, or that
 * exceeds a limit of the transaction. Without an active transaction: {@link jakarta.transaction.TransactionalException}
 * with a {@link jakarta.transaction.TransactionRequiredException} as its cause, as from
 * {@code @Transactional(MANDATORY)}, naming the calling method. If the rows can not be written, the transaction rolls back.
 */
@ApplicationScoped
public class OutboxPublisher {

    @Inject
    TransactionOutbox outbox;

    /**
     * Publishes one event.
     *
     * @param event an object of a class with {@link EventType}, or an {@link OutboxEvent}
     * @return the event's id, the CloudEvents {@code id}: a UUID of version 7
     */
    public UUID publish(Object event) {
        return outbox.publish(Collections.singletonList(event)).get(0);
    }

    /**
     * Publishes several events, all or none: if one of them is refused, none is published.
     *
     * @param events each as for {@link #publish}, in the order in which they are to be sent
     * @return their ids in the same order
     */
    public List<UUID> publishAll(Collection<?> events) {
        return outbox.publish(events);
    }
}
