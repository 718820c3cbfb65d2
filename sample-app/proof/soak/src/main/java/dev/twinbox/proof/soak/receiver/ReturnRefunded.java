package dev.twinbox.proof.soak.receiver;

import dev.twinbox.EventType;

/**
 * An event that only the application's second version handles.
 *
 * @param number counts the events of this type and key from 1
 */
@EventType(value = "return.refunded", topic = "returns")
public record ReturnRefunded(String key, long number) {}
