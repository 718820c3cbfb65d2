package dev.twinbox.proof.servers.app;

import jakarta.enterprise.context.RequestScoped;

/** Whom the current event is about. */
@RequestScoped
public class Tenant {

    private String name = "nobody";

    public String name() {
        return name;
    }

    public void setName(String changed) {
        name = changed;
    }
}
