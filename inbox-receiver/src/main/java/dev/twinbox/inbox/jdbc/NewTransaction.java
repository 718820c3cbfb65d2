package dev.twinbox.inbox.jdbc;

import jakarta.ejb.Stateless;
import jakarta.ejb.TransactionAttribute;
import jakarta.ejb.TransactionAttributeType;
import jakarta.enterprise.context.control.ActivateRequestContext;

/**
 * Begins a transaction and, afterwards, ends it. Public because the container calls it; not for applications.
 *
 * <p>An EJB rather than a {@code UserTransaction} or a CDI interceptor: on Payara the connection pool takes the transaction
 * from the current component invocation, which only an EJB call provides on a thread of our own.
 */
@Stateless
public class NewTransaction {

    /**
     * Returning normally does not mean that the transaction was committed: it may have been marked for rollback, or timed
     * out. The work finds out by a {@link jakarta.transaction.Synchronization}.
     *
     * @param work throws nothing; what it cannot do it answers with a rollback
     */
    @TransactionAttribute(TransactionAttributeType.REQUIRES_NEW)
    @ActivateRequestContext
    public void run(Runnable work) {
        work.run();
    }
}
