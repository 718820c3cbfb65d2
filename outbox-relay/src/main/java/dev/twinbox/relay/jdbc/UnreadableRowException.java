package dev.twinbox.relay.jdbc;

/** A row of the outbox cannot be made into a record. */
final class UnreadableRowException extends Exception {
    private static final long serialVersionUID = 1L;

    UnreadableRowException(String message) {
        super(message);
    }
}
