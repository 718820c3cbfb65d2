package dev.twinbox.relay;

/** What an order holds for: a topic and a key within it. */
record OutboxKey(String topic, String key) {}
