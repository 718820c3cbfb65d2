package dev.twinbox.relay.resend;

/** A job cannot go on. Its message says why, and what the operator can do. */
final class JobFailedException extends Exception {
    private static final long serialVersionUID = 1L;

    JobFailedException(String message) {
        super(message);
    }
}
