package dev.twinbox.sample.orders;

import dev.twinbox.EventType;

/**
 * An order was placed. The key is the customer: receivers get the orders of one customer in sequence.
 *
 * @param number counts the customer's orders from 1
 */
@EventType(value = "order.placed", topic = "orders", key = "customerId")
public record OrderPlaced(long orderId, long customerId, long number, String product, int quantity) {}
