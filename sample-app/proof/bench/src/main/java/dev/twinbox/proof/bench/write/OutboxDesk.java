package dev.twinbox.proof.bench.write;

import dev.twinbox.Outbox;
import jakarta.ejb.EJB;
import jakarta.ejb.Stateless;

/** The side with Twinbox. */
@Stateless
public class OutboxDesk {

    @EJB
    private Orders orders;

    @Outbox
    public OrderStored place(long buyerId) {
        return orders.place(buyerId);
    }
}
