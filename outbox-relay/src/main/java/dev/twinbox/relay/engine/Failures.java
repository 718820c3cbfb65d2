package dev.twinbox.relay.engine;

import dev.twinbox.relay.kafka.Refusal;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What went wrong in the threads of one {@link RelaySession}. The first failure ends it; others may follow until all its
 * threads are closed, and one of them may be the cause: when a broker refuses a batch, the innocent records in it fail, too.
 */
final class Failures {
    private static final int KEPT = 100;

    private final Waiter main;
    private final List<Throwable> failures = new ArrayList<>();
    private volatile boolean any;

    /** @param main woken by each failure */
    Failures(Waiter main) {
        this.main = main;
    }

    void report(Throwable failure) {
        synchronized (failures) {
            if (failures.size() < KEPT || isRefusal(failure)) {
                failures.add(failure);
            }
        }
        any = true;
        main.wake();
    }

    boolean any() {
        return any;
    }

    /** A refusal if there is one, else what came first. */
    @Nullable Throwable worst() {
        synchronized (failures) {
            return failures.stream()
                    .filter(Failures::isRefusal)
                    .findFirst()
                    .orElse(failures.isEmpty() ? null : failures.get(0));
        }
    }

    /** The records that Kafka refused for good. */
    List<SendFailedException> refused() {
        List<SendFailedException> refused = new ArrayList<>();
        synchronized (failures) {
            for (Throwable failure : failures) {
                if (failure instanceof SendFailedException sent && isRefusal(sent)) {
                    refused.add(sent);
                }
            }
        }
        return refused;
    }

    private static boolean isRefusal(Throwable failure) {
        return failure instanceof SendFailedException sent && Refusal.isForGood(sent.reason());
    }
}
