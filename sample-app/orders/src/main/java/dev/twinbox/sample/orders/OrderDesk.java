package dev.twinbox.sample.orders;

import dev.twinbox.Outbox;
import jakarta.ejb.Stateless;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityNotFoundException;
import jakarta.persistence.LockModeType;
import jakarta.persistence.PersistenceContext;

/** Places orders. */
@Stateless
public class OrderDesk {

    @PersistenceContext
    private EntityManager entityManager;

    /**
     * Places one order in the caller's transaction, or in its own. The returned event is committed or rolled back with
     * it.
     */
    @Outbox
    public OrderPlaced place(long customerId, String product, int quantity) {
        Customer customer = entityManager.find(Customer.class, customerId, LockModeType.PESSIMISTIC_WRITE);
        if (customer == null) {
            throw new EntityNotFoundException("There is no customer " + customerId);
        }
        PurchaseOrder order = customer.order(product, quantity);
        entityManager.persist(order);
        return order.placed();
    }

    /** How many orders are committed. */
    public long count() {
        return entityManager
                .createQuery("select count(o) from PurchaseOrder o", Long.class)
                .getSingleResult();
    }
}
