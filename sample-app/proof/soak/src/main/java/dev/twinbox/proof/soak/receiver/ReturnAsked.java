package dev.twinbox.proof.soak.receiver;

import dev.twinbox.EventType;

/**
 * An event that both versions of the application handle.
 *
 * @param number counts the events of this type and key from 1
 */
@EventType(value = "return.asked", topic = "returns")
public record ReturnAsked(String key, long number) {}
