package dev.twinbox.relay;

import java.util.List;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.InvalidTimestampException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.PolicyViolationException;
import org.apache.kafka.common.errors.RecordBatchTooLargeException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.errors.UnsupportedCompressionTypeException;
import org.apache.kafka.common.errors.UnsupportedForMessageFormatException;

/**
 * Tells a record that Kafka will never take from a fault that passes. By the exception's type: Kafka's own {@code
 * RetriableException} is of no use here, the producer has retried those already. What is not listed counts as passing, since
 * waiting too long is seen and loses nothing.
 */
final class Refusal {
    private static final String LIMITS = "raise max.message.bytes of the topic and, if it is lower, "
            + "twinbox.relay.kafka.max.request.size, or lower twinbox.outbox.max-payload-bytes of the application";

    /** @param remedy what a person can do, as the end of a sentence */
    private record Kind(Class<? extends Exception> type, String remedy) {}

    private static final List<Kind> KINDS = List.of(
            new Kind(RecordTooLargeException.class, LIMITS),
            new Kind(RecordBatchTooLargeException.class, LIMITS),
            new Kind(
                    InvalidTopicException.class,
                    "the topic name is not a legal one, which the outbox table should forbid"),
            new Kind(AuthorizationException.class, "grant the relay's Kafka principal Write and Describe on the topic"),
            new Kind(
                    InvalidRecordException.class,
                    "look at the topic's settings: a compacted topic needs a key in each event"),
            new Kind(InvalidTimestampException.class, "look at the topic's timestamp settings and the relay's clock"),
            new Kind(PolicyViolationException.class, "look at the broker's policies"),
            new Kind(
                    UnsupportedCompressionTypeException.class,
                    "set twinbox.relay.kafka.compression.type to one it knows"),
            new Kind(UnsupportedForMessageFormatException.class, "upgrade the message format of the topic"),
            new Kind(SerializationException.class, "report this: the relay sends bytes as they are"));

    private Refusal() {}

    static boolean isForGood(Throwable failure) {
        return KINDS.stream().anyMatch(kind -> kind.type().isInstance(failure));
    }

    /** All a person needs to know to get the relay going again. */
    static String message(SendFailedException refused) {
        Throwable cause = refused.reason();
        String remedy = KINDS.stream()
                .filter(kind -> kind.type().isInstance(cause))
                .map(Kind::remedy)
                .findFirst()
                .orElse("see the cause");
        return "Kafka refused " + refused.record() + " for good: "
                + cause.getClass().getSimpleName() + ": "
                + cause.getMessage() + ". Remedy: " + remedy
                + ". The event stays in the outbox; it and all behind it are sent after a restart.";
    }
}
