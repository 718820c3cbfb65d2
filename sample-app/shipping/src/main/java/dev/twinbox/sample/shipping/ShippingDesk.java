package dev.twinbox.sample.shipping;

import dev.twinbox.EventContext;
import dev.twinbox.InboxHandler;
import jakarta.ejb.Stateless;
import jakarta.persistence.EntityManager;
import jakarta.persistence.PersistenceContext;

/** Ships orders. */
@Stateless
public class ShippingDesk {

    @PersistenceContext
    private EntityManager entityManager;

    /**
     * Ships one order. It does not check for duplicates: the inbox calls it once per event, in the transaction that
     * commits both.
     */
    @InboxHandler
    public void ship(OrderPlaced order, EventContext event) {
        entityManager.persist(new Shipment(event.id(), order));
    }

    /** How many shipments are committed. */
    public long count() {
        return entityManager
                .createQuery("select count(s) from Shipment s", Long.class)
                .getSingleResult();
    }
}
