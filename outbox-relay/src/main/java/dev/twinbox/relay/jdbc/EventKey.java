package dev.twinbox.relay.jdbc;

/** A topic and a key in it: events that share both are sent in order. */
public record EventKey(String topic, String key) {}
