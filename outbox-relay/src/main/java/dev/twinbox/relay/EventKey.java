package dev.twinbox.relay;

/** What an order holds for: a topic and a key within it. */
record EventKey(String topic, String key) {}
