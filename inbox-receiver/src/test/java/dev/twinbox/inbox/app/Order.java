package dev.twinbox.inbox.app;

/**
 * The event of the tests. It says what the handler does.
 *
 * @param id the same as the event's id
 * @param action what the handler does, see {@link Script}
 * @param times to how many calls the action applies, from the first on
 */
public record Order(String id, String action, int times) {}
