package dev.twinbox.inbox.event;

import dev.twinbox.RetryLaterException;
import jakarta.ejb.EJBException;
import jakarta.transaction.RollbackException;
import jakarta.transaction.TransactionalException;
import java.lang.reflect.UndeclaredThrowableException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/**
 * Whether and when an event is tried again whose handler failed.
 *
 * @param kind whether
 * @param delay how long to wait at least; zero unless the handler asked for it
 */
public record RetryRule(Kind kind, Duration delay) {

    public enum Kind {
        /** With the waits and up to the number of attempts that are configured. */
        AS_CONFIGURED,
        /** After the delay that the handler asked for. Costs no attempt. */
        AFTER_DELAY,
        /** Not before an operator asks for it. */
        NEVER
    }

    public static final RetryRule AS_CONFIGURED = new RetryRule(Kind.AS_CONFIGURED, Duration.ZERO);

    private static final RetryRule NEVER = new RetryRule(Kind.NEVER, Duration.ZERO);

    /** What a container wraps around an exception. A handler that names {@code RuntimeException} does not mean these. */
    private static final List<Class<? extends Throwable>> WRAPPERS = List.of(
            EJBException.class,
            RollbackException.class,
            TransactionalException.class,
            UndeclaredThrowableException.class);

    /**
     * The rule for what one of these handlers threw, or what was thrown at their commit.
     *
     * @param handlers usually one; of several it is not known which one threw, so all must name the exception
     */
    public static RetryRule of(Throwable thrown, List<Handler> handlers) {
        Set<Throwable> chain = chain(thrown);
        for (Throwable each : chain) {
            if (each instanceof RetryLaterException later) {
                return new RetryRule(Kind.AFTER_DELAY, later.delay());
            }
        }
        boolean isNamed = !handlers.isEmpty()
                && handlers.stream()
                        .allMatch(handler -> isNamed(chain, handler.options().notRetried()));
        return isNamed ? NEVER : AS_CONFIGURED;
    }

    private static boolean isNamed(Set<Throwable> chain, Set<Class<? extends Throwable>> names) {
        return names.stream().anyMatch(name -> chain.stream().anyMatch(each -> isMeant(name, each)));
    }

    private static boolean isMeant(Class<? extends Throwable> name, Throwable thrown) {
        return name.isInstance(thrown)
                && WRAPPERS.stream()
                        .filter(wrapper -> wrapper.isInstance(thrown))
                        .allMatch(wrapper -> wrapper.isAssignableFrom(name));
    }

    /**
     * The exception and its causes. Suppressed ones are about something else, such as a failed close. But what a
     * resource threw at the commit is suppressed by some transaction managers. The chain may be a cycle.
     */
    private static Set<Throwable> chain(Throwable thrown) {
        Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        Deque<Throwable> toSee = new ArrayDeque<>();
        toSee.add(thrown);
        while (!toSee.isEmpty()) {
            Throwable next = toSee.remove();
            if (seen.add(next)) {
                if (next.getCause() != null) {
                    toSee.add(next.getCause());
                }
                if (next instanceof RollbackException) {
                    Collections.addAll(toSee, next.getSuppressed());
                }
            }
        }
        return seen;
    }
}
