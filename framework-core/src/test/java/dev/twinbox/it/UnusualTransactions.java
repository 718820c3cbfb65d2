package dev.twinbox.it;

import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Event;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.event.TransactionPhase;
import jakarta.inject.Inject;
import jakarta.transaction.TransactionManager;
import jakarta.transaction.Transactional;
import java.util.concurrent.Callable;
import javax.naming.InitialContext;

/** Transactions that Payara's pool does not see: a plain connection is outside of them, in auto-commit. */
@ApplicationScoped
public class UnusualTransactions {

    @Inject
    Event<Work> completing;

    @Inject
    UnusualTransactions self;

    /** What is done in a transaction, and what came of it. */
    public static final class Work {
        private final Callable<String> work;
        private String answer = "not called";
        private Exception failure;

        Work(Callable<String> work) {
            this.work = work;
        }

        void run() {
            try {
                answer = work.call();
            } catch (Exception e) {
                failure = e;
            }
        }

        String answer() throws Exception {
            if (failure != null) {
                throw failure;
            }
            return answer;
        }
    }

    /** Begun by the TransactionManager of JNDI. */
    public String afterBegin(Callable<String> work) throws Exception {
        TransactionManager manager = InitialContext.doLookup("java:appserver/TransactionManager");
        manager.begin();
        try {
            return work.call();
        } finally {
            manager.rollback();
        }
    }

    /** By an observer that is called when the transaction is about to commit. */
    public String beforeCompletion(Callable<String> work) throws Exception {
        Work observed = new Work(work);
        try {
            self.fire(observed);
        } catch (RuntimeException e) {
            observed.answer(); // what has failed in the observer is the reason of the rollback
            throw e;
        }
        return observed.answer();
    }

    @Transactional
    public void fire(Work work) {
        completing.fire(work);
    }

    void completes(@Observes(during = TransactionPhase.BEFORE_COMPLETION) Work work) {
        work.run();
    }
}
