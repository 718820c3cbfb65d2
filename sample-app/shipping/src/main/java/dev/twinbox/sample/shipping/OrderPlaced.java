package dev.twinbox.sample.shipping;

import dev.twinbox.EventType;

/**
 * What shipping wants to know of a placed order. It is our own class, not the producer's: the two services share the
 * name of the event and the fields they both use, not code.
 *
 * @param number which order of this customer it is, from 1
 */
@EventType(value = "order.placed", topic = "orders")
public record OrderPlaced(long orderId, long customerId, long number) {}
