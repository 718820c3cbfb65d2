package dev.twinbox;

/** What becomes of a handler's effect when a process dies between receiving an event and finishing it. */
public enum DeliveryContract {

    /**
     * The effect on the receiver's database happens exactly once: inbox row and effect commit in one transaction.
     * Effects outside of that database (a mail, a REST call) may repeat.
     */
    EXACTLY_ONCE_EFFECT,

    /**
     * No inbox row; the offset is committed after the handler. The effect may repeat: for handlers idempotent by
     * nature, such as an upsert of a full snapshot.
     */
    AT_LEAST_ONCE,

    /**
     * The offset is committed before the handler, in the consumer group {@code <group>-at-most-once}. The effect never
     * repeats and may be lost: for telemetry and signals.
     */
    AT_MOST_ONCE
}
