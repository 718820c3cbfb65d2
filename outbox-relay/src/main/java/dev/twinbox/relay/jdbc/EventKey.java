package dev.twinbox.relay.jdbc;

/** What an order holds for: a topic and a key within it. */
public record EventKey(String topic, String key) {}
