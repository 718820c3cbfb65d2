package dev.twinbox;

/** What shares a transaction with a call of a handler. */
public enum HandlerTransaction {

    /**
     * The other calls of its batch: up to {@code twinbox.inbox.batch.size} events share one transaction and one
     * persistence context. It is several times as fast.
     */
    BATCH,

    /**
     * Nothing: each event has a transaction, and so a persistence context, of its own. For a handler that mixes
     * entities with bulk statements on their rows.
     */
    PER_EVENT
}
