package dev.twinbox.relay.engine;

/** A thread of the session has failed; {@link RelaySession#failure()} says how, once the session is halted. */
final class SessionFailedException extends Exception {
    private static final long serialVersionUID = 1L;

    SessionFailedException() {
        super("a thread of the session has failed");
    }
}
