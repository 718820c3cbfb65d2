package dev.twinbox.lock;

import jakarta.ejb.Stateless;
import jakarta.ejb.TransactionAttribute;
import jakarta.ejb.TransactionAttributeType;

/**
 * Runs work on locks in a transaction of its own, or in the caller's.
 *
 * <p>It is an EJB, because the pools of Payara and GlassFish take the transaction from the current component invocation. A
 * call of an EJB provides one on every thread. A plain connection is outside of the transaction in some places: in an
 * observer of {@code BEFORE_COMPLETION}, and after {@code begin} of the TransactionManager.
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

    /** Runs the work, which must not throw, in the caller's transaction. */
    @TransactionAttribute(TransactionAttributeType.MANDATORY)
    public void runInCallers(Runnable work) {
        work.run();
    }
}
