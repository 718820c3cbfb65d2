package dev.twinbox.outbox;

import jakarta.annotation.Resource;
import jakarta.ejb.Stateless;
import jakarta.ejb.TransactionManagement;
import jakarta.ejb.TransactionManagementType;
import jakarta.transaction.UserTransaction;

/**
 * Runs a part of the {@link SelfTest} in a transaction that {@link UserTransaction} begins. Servers treat it differently
 * from one that the EJB container begins.
 *
 * <p>Public because session beans have to be; not for applications.
 */
@Stateless
@TransactionManagement(TransactionManagementType.BEAN)
public class ApplicationTransaction {

    @Resource
    UserTransaction transaction;

    /**
     * Runs the work and commits.
     *
     * @param work must not throw
     */
    public void run(Runnable work) {
        try {
            transaction.begin();
            work.run();
            transaction.commit();
        } catch (Exception e) { // seven kinds, and all mean the same
            throw new IllegalStateException("a transaction of UserTransaction failed: " + e, e);
        }
    }
}
