package dev.twinbox.relay.kafka;

import dev.twinbox.relay.jdbc.OutboxRecord;
import java.util.List;
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
 * Tells a record that Kafka will never take from a fault that passes. By the exception's type: Kafka's own {@code
 * RetriableException} is of no use here, the producer has retried those already. What is not listed counts as passing, since
 * waiting too long is seen and loses nothing; so does what speaks against the relay as a whole, not against a record.
 */
public final class Refusal {
    public static final String LIMITS = "raise max.message.bytes of the topic and, if it is lower, "
            + "twinbox.relay.kafka.max.request.size, or lower twinbox.outbox.max-payload-bytes of the application";

    /** Whom an exception speaks against. */
    private enum Scope {
        /** The record whose callback gets it: Kafka names the others of its batch as innocent, or has split it. */
        RECORD,
        /** The batch: one record of it, and nobody says which. */
        BATCH
    }

    /** @param remedy what a person can do, as the end of a sentence; with {principal}, who the relay is to Kafka, and {topic} */
    private record Kind(Class<? extends Exception> type, Scope scope, String remedy) {}

    private static final List<Kind> KINDS = List.of(
            new Kind(RecordTooLargeException.class, Scope.RECORD, LIMITS),
            new Kind(RecordBatchTooLargeException.class, Scope.BATCH, LIMITS),
            new Kind(
                    InvalidTopicException.class,
                    Scope.RECORD,
                    "the topic name is not a legal one, which the outbox table should forbid"),
            new Kind(TopicAuthorizationException.class, Scope.RECORD, "grant {principal} Write on topic \"{topic}\""),
            new Kind(
                    InvalidRecordException.class,
                    Scope.RECORD,
                    "look at the topic's settings: a compacted topic needs a key in each event"),
            new Kind(
                    InvalidTimestampException.class,
                    Scope.BATCH,
                    "look at the topic's timestamp settings and the relay's clock"),
            new Kind(PolicyViolationException.class, Scope.BATCH, "look at the broker's policies"),
            new Kind(
                    UnsupportedCompressionTypeException.class,
                    Scope.BATCH,
                    "set twinbox.relay.kafka.compression.type to one it knows"),
            new Kind(
                    UnsupportedForMessageFormatException.class, Scope.BATCH, "upgrade the message format of the topic"),
            new Kind(SerializationException.class, Scope.RECORD, "report this: the relay sends bytes as they are"));

    private Refusal() {}

    public static boolean isForGood(Throwable failure) {
        return kind(failure).isPresent();
    }

    /** Whether it may have been meant for another record of the same batch. */
    public static boolean isOfBatch(Throwable failure) {
        return kind(failure).filter(kind -> kind.scope() == Scope.BATCH).isPresent();
    }

    private static Optional<Kind> kind(Throwable failure) {
        return KINDS.stream().filter(kind -> kind.type().isInstance(failure)).findFirst();
    }

    /** All a person needs to know to get the event through. */
    public static String told(OutboxRecord record, Throwable failure, KafkaLogin login) {
        return "Kafka refused " + record + ": " + told(record.topic(), failure, login);
    }

    public static String told(String topic, Throwable failure, KafkaLogin login) {
        return failure.getClass().getSimpleName() + ": " + failure.getMessage() + ". Remedy: "
                + kind(failure)
                        .map(Kind::remedy)
                        .orElse("see the cause")
                        .replace("{principal}", login.principal())
                        .replace("{topic}", topic);
    }
}
