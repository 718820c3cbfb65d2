package dev.twinbox.relay.jdbc;

import org.jspecify.annotations.Nullable;

/**
 * Why an event is set aside instead of being sent.
 *
 * @param partition it waits for; {@link #TOPIC} where it waits for the topic, or does not wait
 * @param error for a person; null for an event that only waits behind another one
 */
public record ParkReason(
        ParkedState state, int partition, @Nullable String error) {
    /** In place of a partition: the topic as a whole. */
    public static final int TOPIC = -1;

    private static final ParkReason BEHIND = new ParkReason(ParkedState.BEHIND, TOPIC, null);

    /** Kafka will not take it as it is; only a person can help. */
    public static ParkReason refused(String error) {
        return new ParkReason(ParkedState.REFUSED, TOPIC, error);
    }

    /** To be tried again when the topic is there. */
    public static ParkReason waitingForTopic(String error) {
        return new ParkReason(ParkedState.WAITING, TOPIC, error);
    }

    /** To be tried again when the partition moves. */
    public static ParkReason waitingFor(int partition, String error) {
        return new ParkReason(ParkedState.WAITING, partition, error);
    }

    /** An earlier event of its topic and key is set aside. */
    public static ParkReason behind() {
        return BEHIND;
    }
}
