package dev.twinbox.proof.servers.app;

import jakarta.annotation.Resource;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.transaction.TransactionSynchronizationRegistry;
import jakarta.transaction.Transactional;

/** Transactions that {@code @Transactional} begins. */
@ApplicationScoped
public class TransactionalBean {

    @Resource(lookup = "java:comp/TransactionSynchronizationRegistry")
    private TransactionSynchronizationRegistry registry;

    @Transactional
    public void required(Runnable work, Ending ending) {
        work.run();
        switch (ending) {
            case COMMIT -> {}
            case ROLLBACK -> registry.setRollbackOnly();
            case THROW -> throw new Undone();
        }
    }
}
