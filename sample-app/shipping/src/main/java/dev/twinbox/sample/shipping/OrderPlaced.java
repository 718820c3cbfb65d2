package dev.twinbox.sample.shipping;

import dev.twinbox.EventType;

/**
 * An order was placed: what shipping needs of it. This class is not the producer's: the two services share the event's
 * name and these fields, not code.
 *
 * @param number counts the customer's orders from 1
 */
@EventType(value = "order.placed", topic = "orders")
public record OrderPlaced(long orderId, long customerId, long number) {}
