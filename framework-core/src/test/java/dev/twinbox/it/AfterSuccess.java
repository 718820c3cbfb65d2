package dev.twinbox.it;

import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.event.TransactionPhase;
import jakarta.inject.Inject;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Scenario 5: publishes after the transaction, once without any and once in a transaction of its own. */
@ApplicationScoped
public class AfterSuccess {

    public record Happened(long account) {}

    private static volatile CompletableFuture<Throwable> outcome = new CompletableFuture<>();

    @Inject
    Announcer announcer;

    @Inject
    Announcements announcements;

    void observe(@Observes(during = TransactionPhase.AFTER_SUCCESS) Happened event) {
        Throwable refusal = null;
        try {
            announcer.announce(event.account(), "lost?");
        } catch (RuntimeException e) {
            refusal = e;
        }
        try {
            announcements.inNewTransaction(event.account(), "own transaction");
        } finally {
            outcome.complete(refusal);
        }
    }

    static void reset() {
        outcome = new CompletableFuture<>();
    }

    static void awaitOutcome() throws Exception {
        outcome.get(30, TimeUnit.SECONDS);
    }

    static Throwable refusal() {
        return outcome.join();
    }
}
