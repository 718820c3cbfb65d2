package dev.twinbox.jdbc;

import jakarta.transaction.Status;
import jakarta.transaction.Synchronization;
import jakarta.transaction.TransactionSynchronizationRegistry;
import java.sql.SQLException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One run of work in a JTA transaction of its own. It knows whether the transaction was committed. */
public final class NewTransactionCall<T> implements Runnable, Synchronization {

    private final TransactionSynchronizationRegistry registry;
    private final Work<T> work;
    private @Nullable T result;
    private @Nullable Exception thrown;
    private boolean isDone;
    private volatile boolean committed; // a server may end the transaction on another thread

    /** What is done in the transaction. */
    public interface Work<T> {
        T run() throws SQLException;
    }

    private NewTransactionCall(TransactionSynchronizationRegistry registry, Work<T> work) {
        this.registry = registry;
        this.work = work;
    }

    /**
     * Runs the work. Returns after the commit.
     *
     * @param newTransaction begins a transaction, runs what it gets, which does not throw, and ends the transaction
     * @throws SQLException that the work has thrown, or with the cause of the rollback. If the work was done, the
     *     transaction may have been committed nevertheless
     */
    public static <T> T run(
            Consumer<Runnable> newTransaction, TransactionSynchronizationRegistry registry, Work<T> work)
            throws SQLException {
        NewTransactionCall<T> call = new NewTransactionCall<>(registry, work);
        try {
            newTransaction.accept(call);
        } catch (RuntimeException e) {
            call.note(e);
        }
        return call.result();
    }

    @Override
    public void run() {
        try {
            registry.registerInterposedSynchronization(this);
            result = work.run();
            isDone = true;
        } catch (SQLException | RuntimeException e) {
            note(e);
            rollBack();
        }
    }

    private void rollBack() {
        try {
            registry.setRollbackOnly();
        } catch (RuntimeException e) {
            note(e);
        }
    }

    private void note(Exception e) {
        if (thrown == null) {
            thrown = e;
        } else if (thrown != e) {
            thrown.addSuppressed(e);
        }
    }

    private T result() throws SQLException {
        if (thrown instanceof SQLException e) {
            throw e;
        }
        T value = result;
        if (thrown != null || !committed || value == null) {
            throw new SQLException(
                    isDone
                            ? "the transaction was not committed, or the answer to its commit was lost"
                            : "the transaction was rolled back",
                    thrown);
        }
        return value;
    }

    @Override
    public void beforeCompletion() {
        // Only the end counts.
    }

    @Override
    public void afterCompletion(int status) {
        committed = status == Status.STATUS_COMMITTED;
    }
}
