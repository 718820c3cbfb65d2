package dev.twinbox.sample.orders;

import dev.twinbox.EventType;

/**
 * An order was placed. The key is the customer: receivers see the orders of one customer in the order in which they were
 * placed.
 *
 * @param number which order of this customer it is, from 1
 */
@EventType(value = "order.placed", topic = "orders", key = "customerId")
public record OrderPlaced(long orderId, long customerId, long number, String product, int quantity) {}
