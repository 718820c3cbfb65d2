package dev.twinbox.inbox.engine;

import dev.twinbox.AlreadyDoneException;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import javax.transaction.xa.XAException;

/** Separates faults of the database or the connection from faults of an event. */
final class Faults {

    private static final String QUERY_CANCELED = "57014";

    private Faults() {}

    /**
     * Whether the same attempt may succeed later without any change. That holds for connection exceptions (class 08),
     * operator intervention (57), serialization failure (40001) and deadlock (40P01). It does not hold for a canceled
     * statement (57014): a handler that hits a statement timeout will hit it again.
     */
    static boolean isTransient(Throwable thrown) {
        return find(thrown, Faults::isTransientCause).isPresent();
    }

    /**
     * Whether a claim failed because of the event: bad data (22), a constraint (23) or a limit (54). Everything else is
     * a fault of the database, also a missing table or a revoked privilege.
     */
    static boolean isBadData(Throwable thrown) {
        return hasState(thrown, "22") || hasState(thrown, "23") || hasState(thrown, "54");
    }

    /** Whether the handler reported that its work was already done. */
    static boolean isAlreadyDone(Throwable thrown) {
        return find(thrown, AlreadyDoneException.class::isInstance).isPresent();
    }

    /** Whether the exception or one of its causes is an SQL error of this class. */
    static boolean hasState(Throwable thrown, String sqlStateClass) {
        return find(thrown, cause -> sqlState(cause).startsWith(sqlStateClass)).isPresent();
    }

    private static boolean isTransientCause(Throwable cause) {
        String state = sqlState(cause);
        return state.startsWith("08")
                || (state.startsWith("57") && !state.equals(QUERY_CANCELED))
                || state.equals("40001")
                || state.equals("40P01")
                || (cause instanceof XAException xa && xa.errorCode == XAException.XAER_RMFAIL);
    }

    private static String sqlState(Throwable cause) {
        String state = cause instanceof SQLException sql ? sql.getSQLState() : null;
        return state == null ? "" : state;
    }

    /** Walks causes, next exceptions and suppressed ones. Handlers may throw anything, also a cycle of causes. */
    private static Optional<Throwable> find(Throwable thrown, Predicate<Throwable> condition) {
        Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        Deque<Throwable> toSee = new ArrayDeque<>();
        toSee.add(thrown);
        while (!toSee.isEmpty()) {
            Throwable next = toSee.remove();
            if (!seen.add(next)) {
                continue;
            }
            if (condition.test(next)) {
                return Optional.of(next);
            }
            if (next.getCause() != null) {
                toSee.add(next.getCause());
            }
            if (next instanceof SQLException sql && sql.getNextException() != null) {
                toSee.add(sql.getNextException());
            }
            Collections.addAll(toSee, next.getSuppressed());
        }
        return Optional.empty();
    }
}
