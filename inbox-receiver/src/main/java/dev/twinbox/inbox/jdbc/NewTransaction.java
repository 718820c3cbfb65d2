package dev.twinbox.inbox.jdbc;

import jakarta.ejb.Stateless;
import jakarta.ejb.TransactionAttribute;
import jakarta.ejb.TransactionAttributeType;
import jakarta.enterprise.context.control.RequestContextController;
import jakarta.inject.Inject;

/**
 * Runs work in a new transaction. Public because the container calls it; not for applications.
 *
 * <p>It is an EJB, not a {@code UserTransaction} or a CDI interceptor. Payara's connection pool takes the transaction
 * from the current component invocation. On a thread of the receiver only an EJB call provides one.
 */
@Stateless
public class NewTransaction {

    /**
     * Not the interceptor {@code @ActivateRequestContext}: Payara 7 and GlassFish 7 cannot make it for a session bean
     * (WELD-001530, WELD-001537), so no call of the bean succeeds there.
     */
    @Inject
    private RequestContextController requestContext;

    /**
     * Runs the work and ends the transaction. A normal return does not mean that it was committed: it may have been
     * marked for rollback, or may have timed out. A {@link jakarta.transaction.Synchronization} reports the result.
     *
     * @param work must not throw; it marks the transaction for rollback instead
     */
    @TransactionAttribute(TransactionAttributeType.REQUIRES_NEW)
    public void run(Runnable work) {
        boolean isOurs = requestContext.activate();
        try {
            work.run();
        } finally {
            if (isOurs) {
                requestContext.deactivate();
            }
        }
    }
}
