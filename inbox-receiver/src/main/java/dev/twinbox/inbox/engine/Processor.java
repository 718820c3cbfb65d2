package dev.twinbox.inbox.engine;

/** Handles batches by the delivery contract of their handlers. Several workers call it at the same time. */
interface Processor {

    /** Throws nothing that a handler or the database threw: the outcome contains it. */
    Outcome process(Batch batch);

    /**
     * Settles what a handler was called for that has not returned. Called on another thread, while that of the call does
     * nothing more.
     */
    Outcome settleHung(Batch batch, HandlerTimeoutException cause);
}
