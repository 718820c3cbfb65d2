package dev.twinbox.inbox.event;

import dev.twinbox.AlreadyDoneException;
import dev.twinbox.DeliveryContract;
import dev.twinbox.InboxHandler;
import dev.twinbox.RetryLaterException;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** Finds rules for retries that cannot hold. */
final class RetryChecks {

    private RetryChecks() {}

    /** Returns the exceptions after which the handler is not called again. Adds one sentence for each broken rule. */
    static Set<Class<? extends Throwable>> notRetried(InboxHandler annotation, Method method, List<String> breaches) {
        Set<Class<? extends Throwable>> named = Set.copyOf(List.of(annotation.notRetried()));
        if (annotation.delivery() == DeliveryContract.AT_MOST_ONCE) {
            checkAtMostOnce(named, method, breaches);
        }
        checkNames("notRetried", annotation.notRetried(), breaches);
        return named;
    }

    /** Returns the exceptions that open its circuit breaker. Adds one sentence for each broken rule. */
    static Set<Class<? extends Throwable>> breakOn(InboxHandler annotation, List<String> breaches) {
        Set<Class<? extends Throwable>> named = Set.copyOf(List.of(annotation.breakOn()));
        if (annotation.delivery() == DeliveryContract.AT_MOST_ONCE && !named.isEmpty()) {
            breaches.add("it is called at most once for an event, so no event can be parked while its circuit breaker "
                    + "is open; remove breakOn, or choose another delivery");
        }
        checkNames("breakOn", annotation.breakOn(), breaches);
        Stream.of(annotation.notRetried())
                .filter(named::contains)
                .forEach(name -> breaches.add("its notRetried and its breakOn both name " + name.getSimpleName()
                        + ", but after a pause a further try helps or it does not; remove it from one of them"));
        Stream.of(annotation.breakOn())
                .distinct()
                .forEach(away -> checkNotCovered(away, annotation.notRetried(), breaches));
        return named;
    }

    /** Its events would be dead after one attempt, while what the handler needs is away. */
    private static void checkNotCovered(
            Class<? extends Throwable> away, Class<? extends Throwable>[] notRetried, List<String> breaches) {
        Stream.of(notRetried)
                .distinct()
                .filter(name -> name != away && name.isAssignableFrom(away))
                .forEach(name -> breaches.add("its notRetried names " + name.getSimpleName() + ", and so "
                        + away.getSimpleName()
                        + " of its breakOn too, but after a pause a further try helps or it does "
                        + "not; name narrower exceptions in notRetried"));
    }

    private static void checkNames(String attribute, Class<? extends Throwable>[] names, List<String> breaches) {
        Stream.of(names).distinct().forEach(name -> {
            if (RetryLaterException.class.isAssignableFrom(name)) {
                breaches.add("its " + attribute + " names " + name.getSimpleName()
                        + ", which asks for another try; remove it, or throw another exception");
            } else if (AlreadyDoneException.class.isAssignableFrom(name)) {
                breaches.add("its " + attribute + " names " + name.getSimpleName()
                        + ", after which the event counts as handled; remove it, or throw another exception");
            }
        });
    }

    private static void checkAtMostOnce(Set<Class<? extends Throwable>> named, Method method, List<String> breaches) {
        if (!named.isEmpty()) {
            breaches.add("it is called at most once for an event, so nothing is ever retried; "
                    + "remove notRetried, or choose another delivery");
        }
        Stream.of(method.getExceptionTypes())
                .filter(RetryLaterException.class::isAssignableFrom)
                .forEach(declared -> breaches.add("it declares " + declared.getSimpleName()
                        + ", but is called at most once for an event, so the event would be dropped; "
                        + "choose another delivery, or do not throw it"));
    }
}
