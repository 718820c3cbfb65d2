package dev.twinbox;

import java.util.Collection;
import java.util.List;
import java.util.UUID;

/**
 * Publishes events in the caller's JTA transaction, by hand; {@link Outbox} does the same with what a method returns. A
 * bean to inject; applications do not implement it.
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
 * <p><b>Commit and rollback.</b> An event is published if and only if the transaction commits. A transaction that is
 * already marked for rollback takes events too: they are checked, get an id, and are rolled back with it.
 *
 * <p><b>When.</b> Events are serialized and checked at the call and kept in memory. They are written just before the
 * transaction commits, after the flush of a JPA provider. Entity listeners may publish during that flush. Events of one
 * transaction keep the order of the calls.
 *
 * <p><b>Cost.</b> A call: one serialization, no round trip. A transaction: one statement and one round trip for up to
 * 100 events, two round trips above. The connection comes from the configured data source and takes part in the
 * transaction, so there is no further commit.
 *
 * <p><b>Start.</b> Configuration, data source, tables, columns and privileges are checked when the application is
 * deployed. What is wrong fails the deployment. A database that cannot be reached then is an outage, not a mistake. The
 * application starts with a warning, and the first transaction that publishes checks the tables.
 *
 * <p><b>Failures.</b> {@link InvalidEventException} at the call for an event that cannot be sent as it is, or that
 * exceeds a limit of the transaction. Without an active transaction: {@link jakarta.transaction.TransactionalException}
 * with a {@link jakarta.transaction.TransactionRequiredException} as its cause, as from {@code
 * @Transactional(MANDATORY)}; it names the calling method. If the rows cannot be written, the transaction rolls back.
 */
public interface OutboxPublisher {

    /**
     * Publishes one event.
     *
     * @param event an object of a class with {@link EventType}, or an {@link OutboxEvent}
     * @return the event's id, the CloudEvents {@code id}: a UUID of version 7
     */
    UUID publish(Object event);

    /**
     * Publishes several events, all or none: if one of them is refused, none is published.
     *
     * @param events each as for {@link #publish}, in the order in which they are to be sent
     * @return their ids in the same order
     */
    List<UUID> publishAll(Collection<?> events);
}
