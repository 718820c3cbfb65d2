package dev.twinbox.proof.bench.write;

import jakarta.ejb.Stateless;
import jakarta.ejb.TransactionAttribute;
import jakarta.ejb.TransactionAttributeType;
import jakarta.persistence.EntityManager;
import jakarta.persistence.PersistenceContext;
import java.math.BigDecimal;
import java.util.Objects;

/** The work of all sides: a SELECT, an INSERT and an UPDATE, in the caller's transaction. */
@Stateless
@TransactionAttribute(TransactionAttributeType.MANDATORY)
public class Orders {

    private static final BigDecimal TOTAL = new BigDecimal("19.90");
    private static final String NOTE = "0123456789abcdefghijklmnopqrstuvwxyzABCD".repeat(10);

    @PersistenceContext(unitName = "bench")
    private EntityManager entityManager;

    /**
     * Stores one order.
     *
     * @param buyerId 0 to 999
     */
    public OrderStored place(long buyerId) {
        Buyer buyer = Objects.requireNonNull(entityManager.find(Buyer.class, buyerId), "bench.sql makes 1,000 buyers");
        StoredOrder order = buyer.order(TOTAL, NOTE);
        entityManager.persist(order);
        return order.stored();
    }
}
