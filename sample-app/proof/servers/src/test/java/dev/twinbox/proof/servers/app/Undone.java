package dev.twinbox.proof.servers.app;

/** Rolls back on purpose. */
public class Undone extends RuntimeException {

    private static final long serialVersionUID = 1;

    public Undone() {
        super("on purpose");
    }
}
