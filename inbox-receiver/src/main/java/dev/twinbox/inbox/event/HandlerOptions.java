package dev.twinbox.inbox.event;

import dev.twinbox.DeliveryContract;
import dev.twinbox.HandlerTransaction;
import dev.twinbox.InboxHandler;
import java.lang.reflect.Method;
import java.time.DateTimeException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a handler chooses for its calls.
 *
 * @param transaction what shares a transaction
 * @param timeout how long a call may take; null: as configured
 * @param guarding whether instances exclude each other for an event
 * @param notRetried exceptions after which an event is not tried again
 * @param breakOn exceptions that open the handler's circuit breaker; empty: it has none
 */
public record HandlerOptions(
        HandlerTransaction transaction,
        @Nullable Duration timeout,
        Guarding guarding,
        Set<Class<? extends Throwable>> notRetried,
        Set<Class<? extends Throwable>> breakOn) {

    /** Whether instances exclude each other for an event. */
    public enum Guarding {
        NONE,
        GUARDED
    }

    /** What holds for a handler that chooses nothing. */
    public static final HandlerOptions DEFAULT =
            new HandlerOptions(HandlerTransaction.BATCH, null, Guarding.NONE, Set.of(), Set.of());

    /** Reads the annotation. Adds one sentence for each rule that it breaks. */
    static HandlerOptions of(
            InboxHandler annotation, Method method, @Nullable HandlerShape shape, List<String> breaches) {
        if (annotation.transaction() == HandlerTransaction.PER_EVENT && shape == HandlerShape.LIST) {
            breaches.add("it gets a list of events, so it cannot have a transaction for each of them; "
                    + "take one event, or remove transaction = PER_EVENT");
        }
        return new HandlerOptions(
                annotation.transaction(),
                timeout(annotation.timeout(), breaches),
                guarding(annotation, shape, breaches),
                RetryChecks.notRetried(annotation, method, breaches),
                RetryChecks.breakOn(annotation, breaches));
    }

    private static Guarding guarding(InboxHandler annotation, @Nullable HandlerShape shape, List<String> breaches) {
        if (!annotation.guard()) {
            return Guarding.NONE;
        }
        if (shape == HandlerShape.LIST) {
            breaches.add("it gets a list of events, so it cannot have a lock for each of them; "
                    + "take one event, or remove guard = true");
        }
        if (annotation.delivery() == DeliveryContract.AT_MOST_ONCE) {
            breaches.add("it is called at most once for an event, so there is nothing to guard; "
                    + "remove guard = true, or choose another delivery");
        }
        return Guarding.GUARDED;
    }

    /** Whether instances exclude each other for an event. */
    public boolean isGuarded() {
        return guarding == Guarding.GUARDED;
    }

    /** Whether an event of the handler must not share a transaction with others. */
    boolean isPerEvent() {
        return transaction == HandlerTransaction.PER_EVENT || isGuarded();
    }

    private static @Nullable Duration timeout(String text, List<String> breaches) {
        if (text.isEmpty()) {
            return null;
        }
        try {
            Duration timeout = Duration.parse(text);
            if (!timeout.isNegative() && !timeout.isZero()) {
                return timeout;
            }
        } catch (DateTimeException e) {
            // It gets the same message.
        }
        breaches.add("its timeout is \"" + text + "\"; give a duration above zero in ISO form, such as PT30S");
        return null;
    }
}
