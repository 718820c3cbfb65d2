package dev.twinbox.proof.bench.receive;

import dev.twinbox.EventType;
import java.math.BigDecimal;

/**
 * The event of the benchmark, about 500 bytes of JSON.
 *
 * @param note random text, most of the event; it is read but not stored
 */
@EventType("order.placed")
public record OrderPlaced(long orderId, long customerId, BigDecimal total, String note) {}
