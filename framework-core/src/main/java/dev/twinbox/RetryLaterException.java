package dev.twinbox;

import jakarta.ejb.ApplicationException;
import java.time.Duration;

/**
 * Thrown by an {@link InboxHandler} that cannot handle the event now, and knows when to try again.
 *
 * <pre>{@code
 * @InboxHandler
 * public void invoice(OrderShipped event) {
 *   if (tariffs.find(event.tariff()) == null) {
 *     throw new RetryLaterException(Duration.ofMinutes(5), "tariff " + event.tariff() + " is not here yet");
 *   }
 *   …
 * }
 * }</pre>
 *
 * <p><b>Commit and rollback.</b> All that the handler has changed and published is rolled back. The event is parked for
 * this handler. It is tried again when the delay is over, by the database's clock. Later events of its key wait after
 * it, in order. Events of other keys, and other handlers of the event, go on.
 *
 * <p><b>Attempts.</b> It is not a failure and costs no attempt, however often it is thrown. So a handler that waits for
 * something that never comes must give up itself: it throws another exception, when the event has a certain age for
 * example.
 *
 * <p><b>Which one counts.</b> It counts too as the cause of another exception. It wins over {@link
 * InboxHandler#notRetried()}.
 *
 * <p><b>Cost.</b> A batch with such an event is handled again, event by event. So the handler is called once more for
 * the event, before it is parked. With {@link HandlerTransaction#PER_EVENT} it is called once.
 *
 * <p><b>Not for {@code AT_MOST_ONCE}.</b> Such an event has one attempt, and is dropped.
 */
@ApplicationException(rollback = true) // otherwise the container would log it and discard the bean
public class RetryLaterException extends TwinboxException {

    /** The longest delay: 7 days. A key that waits longer is better parked for an operator. */
    public static final Duration LONGEST_DELAY = Duration.ofDays(7);

    /** The shortest delay: 100 ms. A shorter one counts as this one, so that an event is not tried without a pause. */
    public static final Duration SHORTEST_DELAY = Duration.ofMillis(100);

    private static final long serialVersionUID = 1;

    private final Duration delay;

    /**
     * Asks for another try.
     *
     * @param delay how long to wait at least; above zero, at most {@link #LONGEST_DELAY}; less than {@link
     *     #SHORTEST_DELAY} counts as that
     * @throws IllegalArgumentException if the delay is out of bounds
     */
    public RetryLaterException(Duration delay) {
        this(delay, "the handler asks to be called again after " + delay);
    }

    /**
     * Asks for another try.
     *
     * @param delay how long to wait at least; above zero, at most {@link #LONGEST_DELAY}; less than {@link
     *     #SHORTEST_DELAY} counts as that
     * @param message why; operators see it with the parked event
     * @throws IllegalArgumentException if the delay is out of bounds
     */
    public RetryLaterException(Duration delay, String message) {
        super(message);
        this.delay = checked(delay);
    }

    /**
     * Asks for another try.
     *
     * @param delay how long to wait at least; above zero, at most {@link #LONGEST_DELAY}; less than {@link
     *     #SHORTEST_DELAY} counts as that
     * @param message why; operators see it with the parked event
     * @param cause what the handler has caught
     * @throws IllegalArgumentException if the delay is out of bounds
     */
    public RetryLaterException(Duration delay, String message, Throwable cause) {
        super(message, cause);
        this.delay = checked(delay);
    }

    private static Duration checked(Duration delay) {
        if (delay.isNegative() || delay.isZero() || delay.compareTo(LONGEST_DELAY) > 0) {
            throw new IllegalArgumentException(
                    "the delay is " + delay + "; give a duration above zero and at most " + LONGEST_DELAY);
        }
        return delay;
    }

    /** The delay as it was given: above zero, at most {@link #LONGEST_DELAY}. */
    public final Duration delay() {
        return delay;
    }
}
