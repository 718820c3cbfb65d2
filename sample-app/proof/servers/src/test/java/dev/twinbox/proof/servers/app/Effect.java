package dev.twinbox.proof.servers.app;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;

/** What a handler did. */
@Entity
public class Effect {

    @Id
    private String id;

    private String handler;

    private String event;

    private String app;

    protected Effect() {}

    public Effect(String id, String app, String handler, String event) {
        this.id = id;
        this.handler = handler;
        this.event = event;
        this.app = app;
    }
}
