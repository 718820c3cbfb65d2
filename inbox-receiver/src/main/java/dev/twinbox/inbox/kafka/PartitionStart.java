package dev.twinbox.inbox.kafka;

import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.jspecify.annotations.Nullable;

/**
 * Where a partition starts, and why.
 *
 * @param offset offset of the first record; {@link #NO_OFFSET} if Kafka has not said it yet
 * @param handover how the previous owner left the partition
 * @param reason where the offset comes from
 * @param topicId the topic that the offset belongs to; null if it is not known
 */
public record PartitionStart(
        long offset,
        HandoverKind handover,
        Reason reason,
        @Nullable TopicId topicId) {

    /** Stands for an offset before anything is known. */
    public static final long NO_OFFSET = -1;

    /** Where an offset comes from. */
    public enum Reason {
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
    public static final PartitionStart UNKNOWN =
            new PartitionStart(NO_OFFSET, HandoverKind.AFTER_CRASH, Reason.COMMITTED, null);

    public static PartitionStart committed(long offset, CommitMark mark) {
        return new PartitionStart(
                offset,
                mark.isGivenBack() ? HandoverKind.CLEAN : HandoverKind.AFTER_CRASH,
                Reason.COMMITTED,
                mark.topicId());
    }

    /** What this start commits before the first event is handed out. */
    public OffsetAndMetadata commit() {
        return new CommitMark(topicId, false).at(offset);
    }
}
