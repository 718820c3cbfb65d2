package dev.twinbox.proof.servers.app;

import dev.twinbox.InboxHandler;
import jakarta.ejb.Stateless;
import jakarta.inject.Inject;

/** A handler in a session bean. */
@Stateless
public class EjbHandlers {

    @Inject
    private Effects effects;

    @InboxHandler(topic = "orders", type = "order", name = "ejb")
    public void inSessionBean(Order order) {
        effects.write("ejb", order.id());
    }
}
