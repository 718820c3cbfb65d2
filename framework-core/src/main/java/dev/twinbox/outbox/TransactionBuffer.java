package dev.twinbox.outbox;

import static dev.twinbox.outbox.OutboxSettings.MAX_BYTES_PER_TRANSACTION;
import static dev.twinbox.outbox.OutboxSettings.MAX_EVENTS_PER_TRANSACTION;

import dev.twinbox.InvalidEventException;
import dev.twinbox.config.Setting;
import jakarta.transaction.Status;
import jakarta.transaction.Synchronization;
import jakarta.transaction.TransactionSynchronizationRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The events that one transaction has published and not yet written. They are written just before it commits, after the
 * flush of a JPA provider.
 *
 * <p>Why last: the insert draws {@code seq}. By then the transaction holds the row locks of what it changed, so {@code
 * seq} follows the order of the changes. Drawn earlier, it could put two transactions on one row into the wrong order.
 * A provider may join the transaction after us, hence the second step ({@link Step#WRITE}). See {@code
 * docs/reference/guarantees.md}, G2.
 *
 * <p>Used by the transaction's thread only.
 */
final class TransactionBuffer {

    /** One round of writing. */
    private enum Step {
        /** Runs where we registered. A provider that joined later has not flushed yet. */
        GO_LAST,
        /** Runs at the end of the list, when all have flushed. */
        WRITE
    }

    private final TransactionSynchronizationRegistry registry;
    private final Consumer<List<OutboxRow>> writer;
    private final OutboxConfiguration limits;
    private List<OutboxRow> rows = new ArrayList<>();
    private boolean armed;
    private int events;
    private long bytes;

    /** @param writer inserts in the registry's transaction */
    TransactionBuffer(
            TransactionSynchronizationRegistry registry, Consumer<List<OutboxRow>> writer, OutboxConfiguration limits) {
        this.registry = registry;
        this.writer = writer;
        this.limits = limits;
    }

    /** @throws InvalidEventException if the transaction would exceed a limit; then none is added */
    void addAll(List<OutboxRow> added) {
        long addedBytes = added.stream()
                .mapToLong(row -> row.payloadBytes() + row.attributeBytes())
                .sum();
        checkLimit(events + added.size(), "events", MAX_EVENTS_PER_TRANSACTION, limits.maxEventsPerTransaction());
        checkLimit(bytes + addedBytes, "bytes", MAX_BYTES_PER_TRANSACTION, limits.maxBytesPerTransaction());
        arm();
        rows.addAll(added);
        events += added.size();
        bytes += addedBytes;
    }

    private static void checkLimit(long value, String unit, Setting<?> setting, long limit) {
        if (value > limit) {
            throw new InvalidEventException("the transaction would publish " + value + " " + unit + ", " + setting.key()
                    + " allows " + limit + ": split the work into several transactions");
        }
    }

    /** An event that a listener publishes in a later flush, during or after our writing, gets a new round. */
    private void arm() {
        if (!armed) {
            registry.registerInterposedSynchronization(new Round(Step.GO_LAST));
            armed = true;
        }
    }

    private void write() {
        armed = false;
        List<OutboxRow> written = rows;
        rows = new ArrayList<>();
        try {
            writer.accept(written);
        } catch (RuntimeException | Error e) {
            // Not logged here: the server logs what a synchronization or an EJB throws.
            registry.setRollbackOnly();
            throw e;
        }
    }

    private final class Round implements Synchronization {

        private final Step step;

        Round(Step step) {
            this.step = step;
        }

        @Override
        public void beforeCompletion() {
            if (registry.getTransactionStatus() != Status.STATUS_ACTIVE) {
                return; // Payara also calls it when the transaction is marked for rollback.
            }
            switch (step) {
                case GO_LAST -> registry.registerInterposedSynchronization(new Round(Step.WRITE));
                case WRITE -> write();
            }
        }

        @Override
        public void afterCompletion(int status) {
            // The rows share the outcome, whatever it is.
        }
    }
}
