package dev.twinbox.inbox.app;

import dev.twinbox.DeliveryContract;
import dev.twinbox.InboxHandler;
import dev.twinbox.inbox.app.Script.InvalidException;
import jakarta.annotation.Resource;
import jakarta.ejb.Stateless;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.transaction.Synchronization;
import jakarta.transaction.TransactionSynchronizationRegistry;
import java.util.List;

/** Handlers of each shape and contract, with rules for retries. */
@ApplicationScoped
public class RetryRuleHandlers {

    @Inject
    private Script script;

    @Resource(lookup = "java:comp/TransactionSynchronizationRegistry")
    private TransactionSynchronizationRegistry registry;

    @InboxHandler(topic = "rules-cdi", type = "order", name = "cdi", notRetried = InvalidException.class)
    public void onOrder(Order order) throws Exception {
        script.play("cdi", order);
    }

    @InboxHandler(topic = "rules-list", type = "order", name = "list", notRetried = InvalidException.class)
    public void onOrders(List<Order> orders) throws Exception {
        for (Order order : orders) {
            script.play("list", order);
        }
    }

    @InboxHandler(
            topic = "rules-repeating",
            type = "order",
            name = "repeating",
            notRetried = InvalidException.class,
            delivery = DeliveryContract.AT_LEAST_ONCE)
    public void onOrderAgain(Order order) throws Exception {
        script.play("repeating", order);
    }

    @InboxHandler(topic = "rules-lossy", type = "order", name = "lossy", delivery = DeliveryContract.AT_MOST_ONCE)
    public void onSignal(Order order) throws Exception {
        script.play("lossy", order);
    }

    /** Retries nothing that it throws. */
    @InboxHandler(
            topic = "rules-strict",
            type = "order",
            name = "strict",
            timeout = "PT1S",
            notRetried = Throwable.class)
    public void onStrictOrder(Order order) throws Exception {
        script.play("strict", order);
    }

    /** Succeeds, and fails at the commit. */
    @InboxHandler(topic = "rules-commit", type = "order", name = "commit", notRetried = InvalidException.class)
    public void onOrderOfCommit(Order order) throws Exception {
        script.writeEffect("commit", order.id());
        if (script.noteCall("commit", order.id()) <= order.times()) {
            registry.registerInterposedSynchronization(new Refusing());
        }
    }

    private static final class Refusing implements Synchronization {
        @Override
        public void beforeCompletion() {
            throw new Script.UnknownCustomerException();
        }

        @Override
        public void afterCompletion(int status) {}
    }

    /** An EJB, whose container wraps its exceptions. */
    @Stateless
    public static class Ejb {

        @Inject
        private Script script;

        @InboxHandler(topic = "rules-ejb", type = "order", name = "ejb", notRetried = InvalidException.class)
        public void onOrder(Order order) throws Exception {
            script.play("ejb", order);
        }
    }
}
