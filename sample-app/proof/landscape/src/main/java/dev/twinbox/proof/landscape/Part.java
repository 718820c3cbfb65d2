package dev.twinbox.proof.landscape;

/** A process of the sample. Not every landscape has all of them: see {@link Spares}. */
public enum Part {
    POSTGRES("PostgreSQL"),
    BROKER_1("Kafka"),
    BROKER_2("Kafka, broker 2"),
    BROKER_3("Kafka, broker 3"),
    RELAY_1("Relay"),
    RELAY_2("Relay 2"),
    /** The orders service. */
    PRODUCER("Orders"),
    /** The shipping service. */
    RECEIVER_1("Shipping"),
    RECEIVER_2("Shipping 2");

    private final String title;

    Part(String title) {
        this.title = title;
    }

    /** The name for people. */
    public String title() {
        return title;
    }

    boolean isBroker() {
        return name().startsWith("BROKER");
    }

    boolean isRelay() {
        return name().startsWith("RELAY");
    }

    boolean isReceiver() {
        return name().startsWith("RECEIVER");
    }

    /** A spare is what a landscape without spares does not have. */
    boolean isSpare() {
        return this == BROKER_2 || this == BROKER_3 || this == RELAY_2 || this == RECEIVER_2;
    }
}
