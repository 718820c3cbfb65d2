package dev.twinbox.proof.servers.app;

import dev.twinbox.DeliveryContract;
import dev.twinbox.EventContext;
import dev.twinbox.HandlerTransaction;
import dev.twinbox.InboxHandler;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.transaction.Transactional;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** Handlers in a CDI bean. */
@ApplicationScoped
public class CdiHandlers {

    private static final Map<String, AtomicInteger> CALLS = new ConcurrentHashMap<>();

    @Inject
    private Effects effects;

    @Inject
    private Work work;

    @Inject
    private Tenant tenant;

    @InboxHandler(topic = "orders", type = "order", name = "cdi")
    public void inCdiBean(Order order) {
        effects.write("cdi", order.id());
    }

    @InboxHandler(topic = "orders", type = "order", name = "transactional")
    @Transactional
    public void inTransactional(Order order) {
        effects.write("transactional", order.id());
    }

    @InboxHandler(topic = "orders", type = "order", name = "list")
    public void list(List<Order> orders) {
        orders.forEach(order -> effects.write("list", order.id()));
    }

    @InboxHandler(topic = "tenants", type = "order", name = "tenant")
    public void ofTenant(Order order, EventContext context) {
        String given = context.headers().get("tenant");
        if (given != null) {
            tenant.setName(given);
        }
        effects.write("of " + tenant.name(), order.id());
    }

    @InboxHandler(topic = "single", type = "order", name = "single", transaction = HandlerTransaction.PER_EVENT)
    public void single(Order order) {
        effects.write("single", order.id());
    }

    @InboxHandler(topic = "failing", type = "order", name = "failing")
    public void failing(Order order) {
        effects.write("failing", order.id());
        int calls = CALLS.computeIfAbsent(order.id(), id -> new AtomicInteger()).incrementAndGet();
        if (calls <= order.failures()) {
            throw new Undone();
        }
    }

    @InboxHandler(topic = "slow", type = "order", name = "slow", timeout = "PT2S")
    public void slow(Order order) throws InterruptedException {
        effects.write("slow", order.id());
        int calls = CALLS.computeIfAbsent(order.id(), id -> new AtomicInteger()).incrementAndGet();
        if (calls <= order.failures()) {
            new CountDownLatch(1).await(); // until it is interrupted
        }
    }

    @InboxHandler(topic = "signals", type = "order", name = "signal", delivery = DeliveryContract.AT_MOST_ONCE)
    public void signal(Order order) {
        effects.write("signal", order.id());
    }

    /** Changes and publishes. */
    @InboxHandler(topic = "replies", type = "order", name = "reply")
    public void reply(Order order) {
        work.change(Integer.parseInt(order.id().split("-")[0]), order.id(), Work.When.AFTER_JPA);
    }
}
