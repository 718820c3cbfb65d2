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

/** Tells faults of the database or the connection from those that an event is to blame for. */
final class Faults {

    private static final String QUERY_CANCELED = "57014";

    private Faults() {}

    /**
     * Whether the same attempt may succeed later without anybody changing anything: connection exceptions (class 08),
     * operator intervention (57), serialization failure (40001), deadlock (40P01). A statement that was canceled (57014) is not
     * among them: a handler that runs into a statement timeout does so again.
     */
    static boolean isTransient(Throwable thrown) {
        return find(thrown, Faults::isTransientCause).isPresent();
    }

    /**
     * Whether the claim of an event failed for what the event is: bad data (22), a constraint (23) or a limit (54). All else,
     * a missing table or a revoked privilege included, is the database's affair.
     */
    static boolean isBadData(Throwable thrown) {
        return hasState(thrown, "22") || hasState(thrown, "23") || hasState(thrown, "54");
    }

    /** Whether the handler found done what it was to do. */
    static boolean isAlreadyDone(Throwable thrown) {
        return find(thrown, AlreadyDoneException.class::isInstance).isPresent();
    }

    /** Whether an SQL error of this class is at the bottom of it. */
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

    /** Walks causes, next exceptions and suppressed ones; handlers may throw anything, loops included. */
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
