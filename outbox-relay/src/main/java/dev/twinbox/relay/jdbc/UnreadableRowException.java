package dev.twinbox.relay.jdbc;

/**
 * A row of the outbox is such that no record can be made of it.
 *
 * <p><b>Remedy.</b> Correct the program that wrote the row without the library.
 * Then discard it: {@code outbox-relay parked discard}.
 */
final class UnreadableRowException extends Exception {
    private static final long serialVersionUID = 1L;

    UnreadableRowException(String message) {
        super(message);
    }
}
