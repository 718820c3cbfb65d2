package dev.twinbox.relay.engine;

/** Another process owns the relay's name now. Whatever was read or is in flight is not ours any more. */
final class LeaseLostException extends Exception {
    private static final long serialVersionUID = 1L;

    LeaseLostException(String message) {
        super(message);
    }
}
