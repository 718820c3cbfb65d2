package dev.twinbox.proof.bench.write;

import jakarta.ejb.EJB;
import jakarta.ejb.Stateless;

/** The side without an outbox. */
@Stateless
public class PlainDesk {

    @EJB
    private Orders orders;

    public void place(long buyerId) {
        orders.place(buyerId);
    }
}
