package dev.twinbox.relay.engine;

/** A part of the way of a page with events through the relay. The parts do not overlap. */
public enum PagePart {
    /** From the beginning of the poll until its rows are records. */
    READ,
    /** Until the first record is handed to the producer. In a backlog, pages wait for those before them. */
    HANDOVER,
    /** Until all records are acknowledged or parked. */
    ANSWER
}
