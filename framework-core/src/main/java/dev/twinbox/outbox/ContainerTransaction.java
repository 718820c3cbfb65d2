package dev.twinbox.outbox;

import jakarta.ejb.Stateless;
import jakarta.ejb.TransactionAttribute;
import jakarta.ejb.TransactionAttributeType;

/**
 * Runs a part of the {@link SelfTest} in a transaction that the EJB container begins.
 *
 * <p>Public because session beans have to be; not for applications.
 */
@Stateless
public class ContainerTransaction {

    /** Runs the work and commits. */
    @TransactionAttribute(TransactionAttributeType.REQUIRES_NEW)
    public void run(Runnable work) {
        work.run();
    }
}
