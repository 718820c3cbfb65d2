package dev.twinbox.proof.servers.app;

/** How a transaction ends. */
public enum Ending {
    COMMIT,
    /** {@code setRollbackOnly}. */
    ROLLBACK,
    /** A runtime exception. */
    THROW
}
