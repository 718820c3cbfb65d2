package dev.twinbox.inbox.app;

import dev.twinbox.InboxHandler;
import dev.twinbox.inbox.app.Script.ServiceAwayException;
import jakarta.ejb.Stateless;
import jakarta.inject.Inject;
import java.util.List;

/** Two handlers that need a service, and one that does not. */
@Stateless
public class BreakingHandlers {

    @Inject
    private Script script;

    @InboxHandler(topic = "breaker", type = "order", name = "needy", breakOn = ServiceAwayException.class)
    public void onOrder(Order order) throws Exception {
        script.play("needy", order);
    }

    @InboxHandler(topic = "breaker", type = "order", name = "needyList", breakOn = ServiceAwayException.class)
    public void onOrders(List<Order> orders) throws Exception {
        for (Order order : orders) {
            script.play("needyList", order);
        }
    }

    @InboxHandler(topic = "breaker", type = "order", name = "modest")
    public void onOrderToo(Order order) throws Exception {
        script.play("modest", new Order(order.id(), "", 0));
    }
}
