package dev.twinbox.inbox.engine;

/** Handles batches by the delivery contract of their handlers. Several workers call it at the same time. */
interface Processor {

    /** Throws nothing that a handler or the database threw: the outcome contains it. */
    Outcome process(Batch batch);
}
