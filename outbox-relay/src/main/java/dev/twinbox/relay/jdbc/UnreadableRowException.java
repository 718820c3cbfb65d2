package dev.twinbox.relay.jdbc;

/** A row of the outbox is such that no record can be made of it. */
final class UnreadableRowException extends Exception {
    private static final long serialVersionUID = 1L;

    UnreadableRowException(String message) {
        super(message);
    }
}
