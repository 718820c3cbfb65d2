package dev.twinbox.relay;

import org.jspecify.annotations.Nullable;

/**
 * Why an event is set aside instead of being sent.
 *
 * @param partition it waits for; {@link #TOPIC} where it waits for the topic, or does not wait
 * @param error for a person; null for an event that only waits behind another one
 */
record Aside(ParkedState state, int partition, @Nullable String error) {
    /** In place of a partition: the topic as a whole. */
    static final int TOPIC = -1;

    private static final Aside BEHIND = new Aside(ParkedState.BEHIND, TOPIC, null);

    /** Kafka will not take it as it is; only a person can help. */
    static Aside refused(String error) {
        return new Aside(ParkedState.REFUSED, TOPIC, error);
    }

    /** To be tried again when the topic is there. */
    static Aside waitingForTopic(String error) {
        return new Aside(ParkedState.WAITING, TOPIC, error);
    }

    /** To be tried again when the partition moves. */
    static Aside waitingFor(int partition, String error) {
        return new Aside(ParkedState.WAITING, partition, error);
    }

    /** An earlier event of its topic and key is set aside. */
    static Aside behind() {
        return BEHIND;
    }
}
