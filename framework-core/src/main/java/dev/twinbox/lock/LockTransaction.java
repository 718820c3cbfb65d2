package dev.twinbox.lock;

import jakarta.ejb.Stateless;
import jakarta.ejb.TransactionAttribute;
import jakarta.ejb.TransactionAttributeType;

/**
 * Runs work on locks in a transaction of its own.
 *
 * <p>It is an EJB, because Payara's connection pool takes the transaction from the current component invocation. A call of
 * an EJB provides one on every thread and server.
 *
 * <p>Public because session beans have to be; not for applications.
 */
@Stateless
public class LockTransaction {

    /** Runs the work, which must not throw, and ends the transaction. A normal return does not mean that it committed. */
    @TransactionAttribute(TransactionAttributeType.REQUIRES_NEW)
    public void run(Runnable work) {
        work.run();
    }
}
