package dev.twinbox.inbox.jdbc;

/**
 * A key with parked events. They are handled one after the other, in order of their numbers.
 *
 * @param group consumer group
 * @param handler name of the handler that the events are parked for
 * @param topic Kafka topic
 * @param keyHash SHA-256 of the record's key
 */
@SuppressWarnings("ArrayRecordComponent") // compared by nobody
public record BlockedKey(String group, String handler, String topic, byte[] keyHash) {}
