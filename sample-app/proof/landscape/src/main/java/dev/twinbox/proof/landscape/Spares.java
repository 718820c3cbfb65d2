package dev.twinbox.proof.landscape;

/** Whether a landscape has more than one of what can have a spare. */
public enum Spares {
    /** One broker, one relay, one receiver. */
    NONE,
    /** Three brokers, two relays of one name, two receivers of one group. PostgreSQL and the producer have no spare. */
    ALL;

    int brokers() {
        return this == NONE ? 1 : 3;
    }

    boolean has(Part part) {
        return this == ALL || !part.isSpare();
    }
}
