package dev.twinbox.relay.engine;

/** Another process owns the relay's name now. This process must drop all that it has read or has in flight. */
final class LeaseLostException extends Exception {
    private static final long serialVersionUID = 1L;

    LeaseLostException(String message) {
        super(message);
    }
}
