package dev.twinbox.sample.demo;

import dev.twinbox.proof.landscape.Supervisor;
import dev.twinbox.sample.demo.LedgerResult.State;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * The command {@code ledger}: places 1,000 orders, kills the receiver and restarts Kafka meanwhile, sends records again,
 * and waits until the comparison is exact.
 */
final class LedgerDrill {

    private static final Duration LIMIT = Duration.ofMinutes(5);
    private static final Duration POLL = Duration.ofMillis(100);

    private final Actions actions;
    private final Observer observer;
    private final Supervisor supervisor;

    LedgerDrill(Actions actions, Observer observer, Supervisor supervisor) {
        this.actions = actions;
        this.observer = observer;
        this.supervisor = supervisor;
    }

    /**
     * Returns the exact comparison.
     *
     * @throws IllegalStateException if it is wrong, or not exact in time
     */
    LedgerResult run() {
        CompletableFuture<Void> orders = CompletableFuture.runAsync(() -> actions.perform(Action.PLACE_THOUSAND));
        await("no order was shipped", () -> verdict().shipments() > 0);
        actions.perform(Action.KILL_RECEIVER);
        actions.perform(Action.RESTART_KAFKA);
        orders.join();
        await("a server did not come back", supervisor::isAllUp);
        await("not all orders were shipped", () -> isExact(Actions.THOUSAND));
        long skipped = observer.sight().skipped();
        actions.perform(Action.SEND_DUPLICATES);
        await("the receiver did not get the duplicates", () -> observer.sight().skipped() >= skipped + Repeater.KEPT);
        await("the duplicates changed something", () -> isExact(Actions.THOUSAND));
        return verdict();
    }

    private LedgerResult verdict() {
        return observer.sight().verdict();
    }

    private boolean isExact(int orders) {
        LedgerResult verdict = verdict();
        return verdict.state() == State.EXACT && verdict.orders() == orders && verdict.shipments() == orders;
    }

    private void await(String failure, BooleanSupplier condition) {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (!condition.getAsBoolean()) {
            LedgerResult verdict = verdict();
            if (verdict.state() == State.WRONG) {
                throw new IllegalStateException("The ledger is wrong: " + verdict.reason());
            }
            if (System.nanoTime() - end > 0) {
                throw new IllegalStateException("After " + LIMIT.toMinutes() + " minutes " + failure + ": "
                        + verdict.orders() + " orders, " + verdict.events() + " events, " + verdict.shipments()
                        + " shipments; " + verdict.reason());
            }
            LockSupport.parkNanos(POLL.toNanos());
        }
    }
}
