package dev.twinbox.outbox;

import jakarta.ejb.Stateless;
import jakarta.ejb.TransactionAttribute;
import jakarta.ejb.TransactionAttributeType;

/**
 * Runs the insert in the transaction that is about to commit, on servers where it must be an EJB ({@link
 * WriteWay#THROUGH_EJB}).
 *
 * <p>On Payara and GlassFish a pool takes the transaction from the current component's invocation, not from the thread.
 * In {@code beforeCompletion} that is the caller's invocation: a plain {@code getConnection()} is then in auto-commit or
 * in another transaction, and its row survives a rollback.
 *
 * <p>Public because session beans have to be; not for applications.
 */
@Stateless
public class OutboxInsertBean {

    /** Runs the insert, which uses the data source. What it throws marks the transaction for rollback. */
    @TransactionAttribute(TransactionAttributeType.MANDATORY)
    public void run(Runnable insert) {
        insert.run();
    }
}
