package dev.twinbox.inbox.jdbc;

import dev.twinbox.AlreadyDoneException;
import dev.twinbox.jdbc.FailureSubject;
import dev.twinbox.jdbc.SqlState;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.function.Predicate;
import javax.transaction.xa.XAException;

/** Finds out what a failure is about, however the container has wrapped it. */
public final class Faults {

    private Faults() {}

    /**
     * What the failure is about, by all exceptions in it. A failed transaction often has several: the values are
     * refused, and then the connection or the transaction manager complains too. So the values come first.
     */
    public static FailureSubject subjectOf(Throwable thrown) {
        FailureSubject first = FailureSubject.UNKNOWN;
        for (Throwable cause : all(thrown)) {
            FailureSubject subject = subjectOfOne(cause);
            if (subject.compareTo(first) < 0) { // the enum has them in this order
                first = subject;
            }
        }
        return first;
    }

    private static FailureSubject subjectOfOne(Throwable cause) {
        if (cause instanceof SQLException sql) {
            return SqlState.subjectOf(sql);
        }
        return cause instanceof XAException xa && xa.errorCode == XAException.XAER_RMFAIL
                ? FailureSubject.CONNECTION
                : FailureSubject.UNKNOWN;
    }

    /**
     * Whether a database could not be used, or not at the moment. A pool that gives up has no SQLSTATE. So one without a
     * state counts too, unless a database has answered with one.
     */
    public static boolean isTemporary(Throwable thrown) {
        FailureSubject subject = subjectOf(thrown);
        return subject == FailureSubject.CONNECTION || subject == FailureSubject.MOMENT || isWithoutState(thrown);
    }

    private static boolean isWithoutState(Throwable thrown) {
        return contains(thrown, SQLException.class::isInstance)
                && !contains(thrown, cause -> cause instanceof SQLException sql && sql.getSQLState() != null);
    }

    /** Whether the transaction lost against another one at the same time: a deadlock or a serialization failure. */
    public static boolean isConflict(Throwable thrown) {
        return contains(thrown, cause -> cause instanceof SQLException sql && SqlState.isConflict(sql));
    }

    /** Whether a server refused to write, because it is a standby or was made read-only. */
    public static boolean isReadOnly(Throwable thrown) {
        return contains(
                thrown, cause -> cause instanceof SQLException sql && SqlState.READ_ONLY_SQL_TRANSACTION.isOf(sql));
    }

    /** Whether the handler reported that its work was already done. */
    public static boolean isAlreadyDone(Throwable thrown) {
        return contains(thrown, AlreadyDoneException.class::isInstance);
    }

    private static boolean contains(Throwable thrown, Predicate<Throwable> condition) {
        return all(thrown).stream().anyMatch(condition);
    }

    /** Causes, next exceptions and suppressed ones. Handlers may throw anything, also a cycle of causes. */
    private static Set<Throwable> all(Throwable thrown) {
        Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        Deque<Throwable> toSee = new ArrayDeque<>();
        toSee.add(thrown);
        while (!toSee.isEmpty()) {
            Throwable next = toSee.remove();
            if (!seen.add(next)) {
                continue;
            }
            if (next.getCause() != null) {
                toSee.add(next.getCause());
            }
            if (next instanceof SQLException sql && sql.getNextException() != null) {
                toSee.add(sql.getNextException());
            }
            Collections.addAll(toSee, next.getSuppressed());
        }
        return seen;
    }
}
