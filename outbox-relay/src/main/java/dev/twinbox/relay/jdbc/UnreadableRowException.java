package dev.twinbox.relay.jdbc;

/**
 * A row of the outbox cannot be made into a record.
 *
 * <p><b>Remedy.</b> Correct the program that wrote the row without the library.
 * Then discard the event: {@code twinbox-relay parked discard}.
 */
final class UnreadableRowException extends Exception {
    private static final long serialVersionUID = 1L;

    UnreadableRowException(String message) {
        super(message);
    }
}
