package dev.twinbox.proof.servers.app;

/**
 * A received event.
 *
 * @param failures how often the handler of failing orders throws
 */
public record Order(String id, int failures) {}
