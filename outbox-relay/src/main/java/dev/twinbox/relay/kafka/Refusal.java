package dev.twinbox.relay.kafka;

import dev.twinbox.relay.jdbc.OutboxRecord;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.errors.InvalidTimestampException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.PolicyViolationException;
import org.apache.kafka.common.errors.RecordBatchTooLargeException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.UnsupportedCompressionTypeException;
import org.apache.kafka.common.errors.UnsupportedForMessageFormatException;

/**
 * Distinguishes records that Kafka will never accept from faults that pass, by the exception's type. Kafka's own
 * {@code RetriableException} does not help here, since the producer has already retried those. An unlisted exception
 * counts as a fault that passes: waiting too long is visible and loses nothing. The same holds for faults of the whole
 * relay, not of a record.
 */
public final class Refusal {
    public static final String LIMITS = "raise max.message.bytes of the topic and, if it is lower, "
            + "twinbox.relay.kafka.max.request.size, or lower twinbox.outbox.max-payload-bytes of the application";

    /** Which records an exception concerns. */
    private enum Scope {
        /**
         * The record whose callback gets it. Kafka marks the other records of the batch as innocent, or has split the
         * batch.
         */
        RECORD,
        /** One record of the batch, and Kafka does not say which. */
        BATCH
    }

    /**
     * @param remedy what the operator can do, as the end of a sentence; may contain {principal}, the relay's login,
     *     and {topic}
     */
    private record Kind(Class<? extends Exception> type, Scope scope, String remedy) {}

    private static final List<Kind> KINDS = List.of(
            new Kind(RecordTooLargeException.class, Scope.RECORD, LIMITS),
            new Kind(RecordBatchTooLargeException.class, Scope.BATCH, LIMITS),
            new Kind(
                    InvalidTopicException.class,
                    Scope.RECORD,
                    "the topic name is not a legal one; correct the topic in the application"),
            new Kind(TopicAuthorizationException.class, Scope.RECORD, "grant {principal} Write on topic \"{topic}\""),
            new Kind(
                    InvalidRecordException.class,
                    Scope.RECORD,
                    "check the topic's settings: a compacted topic needs a key in each event"),
            new Kind(
                    InvalidTimestampException.class,
                    Scope.RECORD,
                    "check message.timestamp.after.max.ms and message.timestamp.before.max.ms of the topic, and the "
                            + "clocks of the relay and of the brokers"),
            new Kind(PolicyViolationException.class, Scope.BATCH, "check the broker's policies"),
            new Kind(
                    UnsupportedCompressionTypeException.class,
                    Scope.BATCH,
                    "set twinbox.relay.kafka.compression.type to a type that the broker supports"),
            new Kind(
                    UnsupportedForMessageFormatException.class, Scope.BATCH, "upgrade the message format of the topic"),
            new Kind(SerializationException.class, Scope.RECORD, "report this: the relay sends bytes as they are"));

    private Refusal() {}

    /** Whether the same record will never be accepted. A refused timestamp is not for good: a retry has a later one. */
    public static boolean isForGood(Throwable failure) {
        return kind(failure).isPresent() && !isTimestamp(failure);
    }

    /** Whether the clock is to blame, or a limit of the topic that concerns all its records. */
    public static boolean isTimestamp(Throwable failure) {
        return failure instanceof InvalidTimestampException;
    }

    /** Whether another record of the same batch may be the cause. */
    public static boolean isOfBatch(Throwable failure) {
        return kind(failure).filter(kind -> kind.scope() == Scope.BATCH).isPresent();
    }

    /**
     * Whether a record failed because the client had not taken another one. In a Kafka transaction the client then fails
     * all records that it has not sent yet, with the exception of the record that it has not taken (observed with
     * kafka-clients 4.4.0).
     *
     * @param refusal of the record that was not taken
     * @param failure of the other record
     */
    public static boolean isConsequence(Throwable refusal, Throwable failure) {
        return failure == refusal
                || (failure.getClass() == refusal.getClass()
                        && Objects.equals(failure.getMessage(), refusal.getMessage()));
    }

    private static Optional<Kind> kind(Throwable failure) {
        return KINDS.stream().filter(kind -> kind.type().isInstance(failure)).findFirst();
    }

    /** What an operator needs to get the event through. */
    public static String describe(OutboxRecord record, Throwable failure, KafkaLogin login) {
        return "Kafka refused " + record + ": " + describe(record.topic(), failure, login);
    }

    public static String describe(String topic, Throwable failure, KafkaLogin login) {
        return failure.getClass().getSimpleName() + ": " + failure.getMessage() + ". Remedy: "
                + kind(failure)
                        .map(Kind::remedy)
                        .orElse("see the cause")
                        .replace("{principal}", login.principal())
                        .replace("{topic}", topic);
    }
}
