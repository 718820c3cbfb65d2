package dev.twinbox.outbox;

/**
 * Whether an application can publish, for JMX. It is registered on each server as
 * <code>dev.twinbox:type=Outbox,application="…"</code>. The readiness check of MicroProfile Health says the same.
 */
public interface OutboxMXBean {

    /** Whether events can be published. It becomes true when the database has been reached once. */
    boolean isReady();

    /** Why nothing can be published; empty if events can be. */
    String getTrouble();

    /** The way on which rows are written, and why; empty until the outbox is ready. */
    String getWrites();
}
