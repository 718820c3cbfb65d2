package dev.twinbox.inbox.app;

import dev.twinbox.DeliveryContract;
import dev.twinbox.EventContext;
import dev.twinbox.InboxHandler;
import jakarta.ejb.Stateless;
import jakarta.inject.Inject;

/** Handlers of the contracts other than the default, two overloads, and handlers that share events. */
@Stateless
public class ContractHandlers {

    @Inject
    private Script script;

    @InboxHandler(topic = "contracts", type = "order", name = "once")
    public void once(Order order) throws Exception {
        script.play("once", new Order(order.id(), "", 0));
    }

    @InboxHandler(topic = "contracts", type = "order", name = "atLeastOnce", delivery = DeliveryContract.AT_LEAST_ONCE)
    public void atLeastOnce(Order order) throws Exception {
        script.play("atLeastOnce", order);
    }

    @InboxHandler(topic = "contracts", type = "order", name = "atMostOnce", delivery = DeliveryContract.AT_MOST_ONCE)
    public void atMostOnce(Order order) throws Exception {
        script.play("atMostOnce", order);
    }

    @InboxHandler(topic = "two", type = "order", name = "H1")
    public void first(Order order) throws Exception {
        script.play("H1", new Order(order.id(), "", 0));
    }

    @InboxHandler(topic = "two", type = "order", name = "H2")
    public void second(Order order) throws Exception {
        script.play("H2", order);
    }

    @InboxHandler(topic = "two", type = "order", name = "H3")
    public void overloaded(Order order) throws Exception {
        script.play("H3", new Order(order.id(), "", 0));
    }

    @InboxHandler(topic = "two", type = "order", name = "H4")
    public void overloaded(Order order, EventContext context) throws Exception {
        script.play("H4", new Order(order.id(), "", 0));
    }
}
