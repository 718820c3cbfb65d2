package dev.twinbox.relay.engine;

import dev.twinbox.relay.kafka.Refusal;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The failures in the threads of one {@link RelaySession}. The first one ends the session. Others may follow until all
 * threads are closed, and a later one may be the cause. For example, if a broker refuses a batch, its innocent records
 * fail, too.
 */
final class Failures {
    private static final int KEPT = 100;

    private final Waiter main;
    private final List<Throwable> failures = new ArrayList<>();
    private volatile boolean hasAny;

    /** @param main woken by each failure */
    Failures(Waiter main) {
        this.main = main;
    }

    void report(Throwable failure) {
        synchronized (failures) {
            if (failures.size() < KEPT || isRefusal(failure) || isTimestamp(failure)) {
                failures.add(failure);
            }
        }
        hasAny = true;
        main.wake();
    }

    boolean hasAny() {
        return hasAny;
    }

    /** The first refusal if there is one, otherwise the first failure. */
    @Nullable Throwable worst() {
        synchronized (failures) {
            return failures.stream()
                    .filter(Failures::isRefusal)
                    .findFirst()
                    .orElse(failures.isEmpty() ? null : failures.get(0));
        }
    }

    /**
     * The failures of records that Kafka refused for good, or for their timestamp. If the producer has not taken a
     * record, it may have failed others that it had taken because of that one. These are left out.
     */
    List<SendFailedException> refused() {
        List<SendFailedException> refused = new ArrayList<>();
        synchronized (failures) {
            for (Throwable failure : failures) {
                if (failure instanceof SendFailedException sent && (isRefusal(sent) || isTimestamp(sent))) {
                    refused.add(sent);
                }
            }
        }
        List<Throwable> notTaken = refused.stream()
                .filter(each -> !each.wasTaken())
                .map(SendFailedException::reason)
                .toList();
        refused.removeIf(each -> each.wasTaken()
                && notTaken.stream().anyMatch(refusal -> Refusal.isConsequence(refusal, each.reason())));
        return refused;
    }

    private static boolean isRefusal(Throwable failure) {
        return failure instanceof SendFailedException sent && Refusal.isForGood(sent.reason());
    }

    private static boolean isTimestamp(Throwable failure) {
        return failure instanceof SendFailedException sent && Refusal.isTimestamp(sent.reason());
    }
}
