package dev.twinbox.proof.servers.app;

import jakarta.annotation.Resource;
import jakarta.ejb.AsyncResult;
import jakarta.ejb.Asynchronous;
import jakarta.ejb.EJB;
import jakarta.ejb.SessionContext;
import jakarta.ejb.Stateless;
import jakarta.ejb.TransactionAttribute;
import jakarta.ejb.TransactionAttributeType;
import java.util.concurrent.Future;

/** Transactions that the EJB container begins. */
@Stateless
public class SessionBean {

    @Resource
    private SessionContext context;

    @EJB
    private SessionBean self;

    public void required(Runnable work, Ending ending) {
        work.run();
        end(ending);
    }

    @TransactionAttribute(TransactionAttributeType.REQUIRES_NEW)
    public void requiresNew(Runnable work, Ending ending) {
        work.run();
        end(ending);
    }

    /** A transaction that is suspended while another one runs. */
    public void nested(Runnable outer, Ending endingOfOuter, Runnable inner, Ending endingOfInner) {
        outer.run();
        try {
            self.requiresNew(inner, endingOfInner);
        } catch (RuntimeException e) {
            // it was to be rolled back
        }
        end(endingOfOuter);
    }

    @Asynchronous
    public Future<String> later(Runnable work, Ending ending) {
        work.run();
        end(ending);
        return new AsyncResult<>("done");
    }

    private void end(Ending ending) {
        switch (ending) {
            case COMMIT -> {}
            case ROLLBACK -> context.setRollbackOnly();
            case THROW -> throw new Undone();
        }
    }
}
