package dev.twinbox.it;

import jakarta.annotation.Resource;
import jakarta.ejb.EJBContext;
import jakarta.ejb.Stateless;
import jakarta.ejb.TransactionAttribute;
import jakarta.ejb.TransactionAttributeType;

/** Runs a test's code in an EJB's transaction, which the container begins and commits. */
@Stateless
public class Transactions {

    /** Something to do in a transaction. */
    @FunctionalInterface
    public interface Work {
        void run() throws Exception;
    }

    @Resource
    EJBContext context;

    public void required(Work work) throws Exception {
        work.run();
    }

    public void requiredRolledBack(Work work) throws Exception {
        work.run();
        context.setRollbackOnly();
    }

    @TransactionAttribute(TransactionAttributeType.REQUIRES_NEW)
    public void requiresNew(Work work) throws Exception {
        work.run();
    }

    @TransactionAttribute(TransactionAttributeType.REQUIRES_NEW)
    public void requiresNewRolledBack(Work work) throws Exception {
        work.run();
        context.setRollbackOnly();
    }

    @TransactionAttribute(TransactionAttributeType.NOT_SUPPORTED)
    public void notSupported(Work work) throws Exception {
        work.run();
    }
}
