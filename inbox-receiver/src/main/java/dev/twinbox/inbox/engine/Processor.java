package dev.twinbox.inbox.engine;

/** Handles batches, by the contract of its handlers. Called by workers, several at once. */
interface Processor {

    /** Throws nothing that a handler or the database threw: that is the outcome. */
    Outcome process(Batch batch);
}
