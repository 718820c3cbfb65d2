package dev.twinbox.relay.jdbc;

import org.jspecify.annotations.Nullable;

/**
 * Why an event is parked instead of sent.
 *
 * @param partition the partition that it waits for; {@link #PAUSED} if it waits for the end of a pause; {@link #TOPIC} if
 *     it waits for the topic, or does not wait
 * @param error for the operator; null for an event that is only blocked by an earlier one of its key
 */
public record ParkReason(
        ParkedState state, int partition, @Nullable String error) {
    /** Stands for the whole topic, in place of a partition. */
    public static final int TOPIC = -1;

    /** Stands for the end of the topic's pause, in place of a partition. Relays of earlier versions send such an event. */
    public static final int PAUSED = -2;

    private static final ParkReason BEHIND = new ParkReason(ParkedState.BEHIND, TOPIC, null);

    /** Kafka will never accept the event as it is. Only an operator can help. */
    public static ParkReason refused(String error) {
        return new ParkReason(ParkedState.REFUSED, TOPIC, error);
    }

    /** The event is retried when the topic exists. */
    public static ParkReason waitingForTopic(String error) {
        return new ParkReason(ParkedState.WAITING, TOPIC, error);
    }

    /** The event is retried when the partition accepts records again. */
    public static ParkReason waitingFor(int partition, String error) {
        return new ParkReason(ParkedState.WAITING, partition, error);
    }

    /** The event is retried when an operator resumes the topic. {@link ParkedCauses} knows it by this text. */
    public static ParkReason pausedTopic(String topic) {
        return new ParkReason(
                ParkedState.WAITING,
                PAUSED,
                "topic \"" + topic + "\" is paused by an operator: \"twinbox-relay resume --topic " + topic
                        + "\" sends its events in order");
    }

    /** Whether it is only the topic's pause that keeps the event. */
    public boolean isPause() {
        return partition == PAUSED;
    }

    /** An earlier event of the same topic and key is parked. */
    public static ParkReason behind() {
        return BEHIND;
    }
}
