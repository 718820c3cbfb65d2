package dev.twinbox.proof.bench.receive;

import dev.twinbox.InboxHandler;
import jakarta.ejb.Stateless;
import jakarta.persistence.EntityManager;
import jakarta.persistence.PersistenceContext;

/** A handler with JPA, as an application writes it. */
@Stateless
public class JpaDesk {

    @PersistenceContext
    private EntityManager entityManager;

    @InboxHandler(topic = "bench-jpa", name = "jpa")
    public void place(OrderPlaced order) {
        entityManager.persist(new Effect(order));
    }
}
