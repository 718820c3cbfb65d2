package dev.twinbox.inbox.app;

import dev.twinbox.InboxHandler;
import jakarta.ejb.Stateless;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.transaction.Transactional;

/** One handler for each kind of bean. */
public final class FailingHandlers {

    private FailingHandlers() {}

    /** An EJB: by the EJB rules a checked exception commits. */
    @Stateless
    public static class Ejb {

        @Inject
        private Script script;

        @InboxHandler(topic = "ejb", type = "order")
        public void onOrder(Order order) throws Exception {
            script.play("Ejb.onOrder", order);
        }
    }

    /** A CDI bean: no rule applies. */
    @ApplicationScoped
    public static class Cdi {

        @Inject
        private Script script;

        @InboxHandler(topic = "cdi", type = "order")
        public void onOrder(Order order) throws Exception {
            script.play("Cdi.onOrder", order);
        }
    }

    /** A CDI bean with a transaction interceptor that is set to commit in spite of the exception. */
    @ApplicationScoped
    public static class Transacted {

        @Inject
        private Script script;

        @InboxHandler(topic = "transacted", type = "order")
        @Transactional(dontRollbackOn = Throwable.class)
        public void onOrder(Order order) throws Exception {
            script.play("Transacted.onOrder", order);
        }
    }
}
