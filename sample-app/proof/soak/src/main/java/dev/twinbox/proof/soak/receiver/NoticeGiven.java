package dev.twinbox.proof.soak.receiver;

import dev.twinbox.EventType;

/**
 * An event on the topic that is deleted and created again.
 *
 * @param number counts the events of this type and key from 1
 */
@EventType(value = "notice.given", topic = "notices")
public record NoticeGiven(String key, long number) {}
