package dev.twinbox.inbox.event;

import jakarta.ejb.EJBException;
import jakarta.transaction.RollbackException;
import jakarta.transaction.TransactionalException;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/** Finds the exception that a handler means, however it is wrapped. */
final class Causes {

    /** What a container wraps around an exception. A handler that names {@code RuntimeException} does not mean these. */
    private static final List<Class<? extends Throwable>> WRAPPERS = List.of(
            EJBException.class,
            RollbackException.class,
            TransactionalException.class,
            UndeclaredThrowableException.class);

    private Causes() {}

    /** Whether the exception or one of its causes is of a named class. */
    static boolean isNamed(Throwable thrown, Set<Class<? extends Throwable>> names) {
        return !names.isEmpty() && isNamed(of(thrown), names);
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
    static Set<Throwable> of(Throwable thrown) {
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
