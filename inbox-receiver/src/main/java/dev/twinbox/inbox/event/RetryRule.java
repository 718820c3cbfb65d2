package dev.twinbox.inbox.event;

import dev.twinbox.RetryLaterException;
import java.time.Duration;
import java.util.List;

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

    /**
     * The rule for what one of these handlers threw, or what was thrown at their commit.
     *
     * @param handlers usually one; of several it is not known which one threw, so all must name the exception
     */
    public static RetryRule of(Throwable thrown, List<Handler> handlers) {
        for (Throwable each : Causes.of(thrown)) {
            if (each instanceof RetryLaterException later) {
                return new RetryRule(Kind.AFTER_DELAY, atLeast(RetryLaterException.SHORTEST_DELAY, later.delay()));
            }
        }
        boolean isNamed = !handlers.isEmpty()
                && handlers.stream()
                        .allMatch(handler ->
                                Causes.isNamed(thrown, handler.options().notRetried()));
        return isNamed ? NEVER : AS_CONFIGURED;
    }

    private static Duration atLeast(Duration shortest, Duration delay) {
        return delay.compareTo(shortest) < 0 ? shortest : delay;
    }
}
