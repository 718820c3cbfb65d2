package dev.twinbox.inbox.jdbc;

/**
 * A key with parked events. They are handled one after the other, in order of their numbers.
 *
 * @param group consumer group
 * @param handler name of the handler for which the events are parked
 * @param topic Kafka topic
 * @param keyHash SHA-256 of the record's key
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record BlockedKey(String group, String handler, String topic, byte[] keyHash) {}
