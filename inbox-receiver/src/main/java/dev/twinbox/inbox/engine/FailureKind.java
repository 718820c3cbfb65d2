package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.jdbc.Faults;
import dev.twinbox.inbox.jdbc.RetriedWrites;
import dev.twinbox.jdbc.FailureSubject;

/** Whose failure a failed attempt is. It decides what is held against the event, and who has to wait. */
enum FailureKind {
    /** The application's own database. All wait until it works again. Nothing is held against the event. */
    DATABASE,
    /** Nobody: the transaction lost against another one. It is repeated. Nothing is held against the event. */
    CONFLICT,
    /** The event. It counts as an attempt. */
    EVENT;

    /**
     * Decides about an attempt that is not committed.
     *
     * <p>Before the handler is called, only the receiver's own statements can fail. Afterwards the handler may have
     * used any other database. Its failures look like those of the application's own database, and so does a commit
     * that failed without a reason. So the own database is looked at: if it has worked all the time, it was not the
     * cause.
     */
    static FailureKind attempt(Attempt attempt, RetriedWrites writes) {
        if (attempt.cause() instanceof HandlerTimeoutException) {
            return EVENT; // whatever the interrupt led to
        }
        FailureSubject subject = Faults.subjectOf(attempt.cause());
        if (attempt.isBeforeHandling()) {
            return subject == FailureSubject.EVENT ? EVENT : DATABASE;
        }
        if (Faults.isConflict(attempt.cause())) {
            return CONFLICT;
        }
        boolean mayBeTheDatabase =
                Faults.isTemporary(attempt.cause()) || (subject == FailureSubject.UNKNOWN && attempt.mayBeCommitted());
        return mayBeTheDatabase && !writes.isWritableSince(attempt.begunAt()) ? DATABASE : EVENT;
    }
}
