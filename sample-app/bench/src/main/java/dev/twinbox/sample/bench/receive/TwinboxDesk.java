package dev.twinbox.sample.bench.receive;

import dev.twinbox.InboxHandler;
import jakarta.ejb.Stateless;
import jakarta.persistence.EntityManager;
import jakarta.persistence.PersistenceContext;

/** The measured handler: what an application writes with Twinbox and JPA. */
@Stateless
public class TwinboxDesk {

    @PersistenceContext
    private EntityManager entityManager;

    @InboxHandler(name = "effect")
    public void place(OrderPlaced order) {
        entityManager.persist(new Effect(order));
    }
}
