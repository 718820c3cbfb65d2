package dev.twinbox.inbox.replay;

/** A job cannot go on, whoever tries. Its message is for the operator. */
final class JobFailedException extends Exception {
    private static final long serialVersionUID = 1;

    JobFailedException(String message) {
        super(message);
    }
}
