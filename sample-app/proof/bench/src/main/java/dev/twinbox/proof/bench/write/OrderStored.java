package dev.twinbox.proof.bench.write;

import dev.twinbox.EventType;
import java.math.BigDecimal;

/**
 * The event of the benchmark, about 500 bytes of JSON.
 *
 * @param note text, most of the event
 */
@EventType(value = "order.stored", topic = "bench-write", key = "buyerId")
public record OrderStored(long orderId, long buyerId, BigDecimal total, String note) {}
