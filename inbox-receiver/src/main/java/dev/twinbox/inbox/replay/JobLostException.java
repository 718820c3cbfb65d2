package dev.twinbox.inbox.replay;

/** A job is over, or another instance has it. */
final class JobLostException extends Exception {
    private static final long serialVersionUID = 1;

    JobLostException(long job) {
        super("job " + job + " was canceled, or another instance has it");
    }
}
