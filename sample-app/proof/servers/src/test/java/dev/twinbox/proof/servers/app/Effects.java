package dev.twinbox.proof.servers.app;

import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.persistence.EntityManager;
import jakarta.persistence.PersistenceContext;
import java.util.UUID;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/** Writes effects in the transaction of the receiver. */
@ApplicationScoped
public class Effects {

    @PersistenceContext
    private EntityManager entities;

    @Inject
    @ConfigProperty(name = "twinbox.inbox.group")
    private String app;

    public void write(String handler, String event) {
        entities.persist(new Effect(UUID.randomUUID().toString(), app, handler, event));
    }
}
