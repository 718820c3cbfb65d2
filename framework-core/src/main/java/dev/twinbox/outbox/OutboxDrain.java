package dev.twinbox.outbox;

import jakarta.ejb.Stateless;
import jakarta.ejb.TransactionAttribute;
import jakarta.ejb.TransactionAttributeType;

/**
 * Runs the insert in the transaction that is about to commit. Must be an EJB: on Payara a pool takes the transaction from
 * the current component's invocation, not from the thread, and in {@code beforeCompletion} that is the caller's. A plain
 * {@code getConnection()} there is in auto-commit or in another transaction, and its row survives a rollback.
 *
 * <p>Public because session beans have to be; not for applications.
 */
@Stateless
public class OutboxDrain {

    /** Runs the insert, which uses the data source; what it throws marks the transaction for rollback. */
    @TransactionAttribute(TransactionAttributeType.MANDATORY)
    public void run(Runnable insert) {
        insert.run();
    }
}
