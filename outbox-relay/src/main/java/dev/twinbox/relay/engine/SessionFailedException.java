package dev.twinbox.relay.engine;

/**
 * A thread of the session has failed. After the session is halted, {@link RelaySession#failure()} returns the cause.
 */
final class SessionFailedException extends Exception {
    private static final long serialVersionUID = 1L;

    SessionFailedException() {
        super("a thread of the session has failed");
    }
}
