package dev.twinbox.inbox.engine;

/**
 * Where a partition starts, and why.
 *
 * @param offset offset of the first record; {@link AssignedPartition#UNKNOWN} if Kafka has not said it yet
 * @param handover how the previous owner left the partition
 * @param reason where the offset comes from
 */
record PartitionStart(long offset, HandoverKind handover, Reason reason) {

    /** Where an offset comes from. */
    enum Reason {
        /** The group has committed it. */
        COMMITTED,
        /** The group has never read the topic. */
        NEW_TOPIC,
        /** The group knows the topic, and the partition is new to it. */
        NEW_PARTITION,
        /** Kafka has no offset any more, and the inbox database remembers it. */
        REMEMBERED,
        /** Kafka has no offset any more, and the group may not repeat events. */
        AT_THE_END
    }

    /** Kafka did not answer in time. The previous owner may have crashed. */
    static final PartitionStart UNKNOWN =
            new PartitionStart(AssignedPartition.UNKNOWN, HandoverKind.AFTER_CRASH, Reason.COMMITTED);

    static PartitionStart committed(long offset, HandoverKind handover) {
        return new PartitionStart(offset, handover, Reason.COMMITTED);
    }
}
