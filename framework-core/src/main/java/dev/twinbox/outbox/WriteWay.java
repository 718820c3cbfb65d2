package dev.twinbox.outbox;

/** How the outbox writes in {@code beforeCompletion}. On each way the rows are in the transaction on some servers only. */
enum WriteWay {
    /** By a connection of the data source. */
    DIRECTLY("directly"),

    /** By a connection that is opened in a call of {@link OutboxInsertBean}. */
    THROUGH_EJB("through an EJB");

    private final String text;

    WriteWay(String text) {
        this.text = text;
    }

    @Override
    public String toString() {
        return text;
    }
}
