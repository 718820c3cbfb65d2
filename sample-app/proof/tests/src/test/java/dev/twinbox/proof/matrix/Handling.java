package dev.twinbox.proof.matrix;

import org.apache.kafka.common.TopicPartition;

/** The handlers of the crash application, one for each delivery contract. */
enum Handling {
    ONCE(Contract.EXACTLY_ONCE_EFFECT, "crash-once", "crash"),
    AT_LEAST_ONCE(Contract.AT_LEAST_ONCE, "crash-at-least-once", "crash"),
    AT_MOST_ONCE(Contract.AT_MOST_ONCE, "crash-at-most-once", "crash-at-most-once");

    private final Contract contract;
    private final TopicPartition partition;
    private final String group;

    Handling(Contract contract, String topic, String group) {
        this.contract = contract;
        this.partition = new TopicPartition(topic, 0);
        this.group = group;
    }

    static Handling of(String rowNumber) {
        for (Handling handling : values()) {
            if (handling.contract == Contract.of(rowNumber)) {
                return handling;
            }
        }
        throw new IllegalArgumentException("Row " + rowNumber + " is not the receiver's");
    }

    /** The only partition of its topic. */
    TopicPartition partition() {
        return partition;
    }

    /** The consumer group. */
    String group() {
        return group;
    }
}
