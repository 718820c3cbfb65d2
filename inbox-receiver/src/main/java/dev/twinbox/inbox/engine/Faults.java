package dev.twinbox.inbox.engine;

import dev.twinbox.AlreadyDoneException;
import dev.twinbox.jdbc.SqlState;
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

    private Faults() {}

    /** Whether the same attempt may succeed later without any change, by {@link SqlState#isTransient}. */
    static boolean isTransient(Throwable thrown) {
        return find(thrown, cause -> isSql(cause, SqlState::isTransient) || isLostResourceManager(cause))
                .isPresent();
    }

    /**
     * Whether the claim of an event failed because of the event, by {@link SqlState#isBadData}. All else, a missing
     * table or a revoked privilege included, is a fault of the database.
     */
    static boolean isBadData(Throwable thrown) {
        return find(thrown, cause -> isSql(cause, SqlState::isBadData)).isPresent();
    }

    /** Whether an operator has to act: the login is refused, or a schema, table, column or privilege is missing. */
    static boolean needsAnOperator(Throwable thrown) {
        return find(thrown, cause -> isSql(cause, SqlState::isLoginRefused) || isSql(cause, SqlState::isSchemaWrong))
                .isPresent();
    }

    /** Whether the handler reported that its work was already done. */
    static boolean isAlreadyDone(Throwable thrown) {
        return find(thrown, AlreadyDoneException.class::isInstance).isPresent();
    }

    private static boolean isSql(Throwable cause, Predicate<SQLException> condition) {
        return cause instanceof SQLException sql && condition.test(sql);
    }

    private static boolean isLostResourceManager(Throwable cause) {
        return cause instanceof XAException xa && xa.errorCode == XAException.XAER_RMFAIL;
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
