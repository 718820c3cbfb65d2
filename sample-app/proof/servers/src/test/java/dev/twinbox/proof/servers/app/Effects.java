package dev.twinbox.proof.servers.app;

import jakarta.enterprise.context.ApplicationScoped;
import jakarta.persistence.EntityManager;
import jakarta.persistence.PersistenceContext;
import java.util.UUID;

/** Writes effects in the transaction of the receiver. */
@ApplicationScoped
public class Effects {

    @PersistenceContext
    private EntityManager entities;

    public void write(String handler, String event) {
        entities.persist(new Effect(UUID.randomUUID().toString(), handler, event));
    }
}
