package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.OutboxRecord;
import dev.twinbox.relay.kafka.KafkaLogin;
import dev.twinbox.relay.kafka.Refusal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.ClusterAuthorizationException;
import org.apache.kafka.common.errors.InvalidTimestampException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.NetworkException;
import org.apache.kafka.common.errors.NotEnoughReplicasException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.errors.PolicyViolationException;
import org.apache.kafka.common.errors.RecordBatchTooLargeException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.errors.UnsupportedCompressionTypeException;
import org.apache.kafka.common.errors.UnsupportedForMessageFormatException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

@Timeout(120)
class RefusalTest {

    @Test
    void whatKafkaWillNeverTakeIsToldFromWhatPasses() {
        assertThat(List.of(
                        new RecordTooLargeException("x"),
                        new InvalidTopicException("x"),
                        new InvalidRecordException("x"),
                        new TopicAuthorizationException(Set.of("x"))))
                .allMatch(Refusal::isForGood);
        assertThat(List.of(
                        new TimeoutException("x"),
                        new NetworkException("x"),
                        new NotEnoughReplicasException("x"),
                        new OutOfOrderSequenceException("x"),
                        new UnknownTopicOrPartitionException("x"),
                        new SaslAuthenticationException("x"),
                        new InvalidTimestampException("a retry has a later one"),
                        new ClusterAuthorizationException("against the relay, not against a record"),
                        new KafkaException("part of a batch with invalid records"),
                        new IllegalStateException("closed")))
                .noneMatch(Refusal::isForGood);
    }

    @Test
    void theInnocentRecordsOfARefusedBatchAreNotBlamed() {
        Failures failures = new Failures(new Waiter(new RelayConfig.Idle(Duration.ofMillis(1), Duration.ofMillis(1))));
        SendFailedException innocent = failed(1, new KafkaException("part of a batch with invalid records"));
        SendFailedException guilty = failed(2, new InvalidRecordException("needs a key"));
        failures.report(innocent);
        assertThat(failures.worst()).isSameAs(innocent);
        failures.report(guilty);
        assertThat(failures.worst()).isSameAs(guilty);
        assertThat(failures.refused()).containsExactly(guilty);
        assertThat(Refusal.describe(guilty.record(), guilty.reason(), new KafkaLogin("User:relay")))
                .contains("seq 2", "topic \"t\"", "key \"k\"", "compacted");
    }

    /** Nobody knows which record of a batch was the cause, so each is tried alone. */
    @ParameterizedTest
    @MethodSource("refusals")
    void eachRefusalHasAScopeAndARemedy(Exception refusal, Scope scope, String remedy) {
        assertThat(Refusal.isForGood(refusal)).isTrue();
        assertThat(Refusal.isOfBatch(refusal)).isEqualTo(scope == Scope.BATCH);
        assertThat(Refusal.describe("orders", refusal, new KafkaLogin("User:relay")))
                .startsWith(refusal.getClass().getSimpleName() + ": " + refusal.getMessage() + ". Remedy: ")
                .contains(remedy);
    }

    private enum Scope {
        RECORD,
        BATCH
    }

    static List<Arguments> refusals() {
        return List.of(
                arguments(new RecordTooLargeException("x"), Scope.RECORD, "raise max.message.bytes of the topic"),
                arguments(new RecordBatchTooLargeException("x"), Scope.BATCH, "twinbox.relay.kafka.max.request.size"),
                arguments(new InvalidTopicException("x"), Scope.RECORD, "not a legal one"),
                arguments(
                        new TopicAuthorizationException(Set.of("orders")),
                        Scope.RECORD,
                        "grant User:relay Write on topic \"orders\""),
                arguments(new InvalidRecordException("x"), Scope.RECORD, "a compacted topic needs a key"),
                arguments(new PolicyViolationException("x"), Scope.BATCH, "the broker's policies"),
                arguments(
                        new UnsupportedCompressionTypeException("x"),
                        Scope.BATCH,
                        "set twinbox.relay.kafka.compression.type"),
                arguments(new UnsupportedForMessageFormatException("x"), Scope.BATCH, "upgrade the message format"),
                arguments(new SerializationException("x"), Scope.RECORD, "report this"));
    }

    @Test
    void whatIsNoRefusalHasNoScope() {
        assertThat(Refusal.isOfBatch(new TimeoutException("x"))).isFalse();
        assertThat(Refusal.describe("orders", new InvalidTimestampException("x"), new KafkaLogin("User:relay")))
                .contains("message.timestamp.after.max.ms", "the clocks of the relay and of the brokers");
        assertThat(Refusal.describe("orders", new TimeoutException("x"), new KafkaLogin("User:relay")))
                .isEqualTo("TimeoutException: x. Remedy: see the cause");
    }

    @Test
    void ofManyFailuresTheFirstHundredAreKeptAndEachRefusal() throws InterruptedException {
        Waiter main = new Waiter(new RelayConfig.Idle(Duration.ofMillis(1), Duration.ofMillis(1)));
        Failures failures = new Failures(main);
        assertThat(failures.hasAny()).isFalse();
        assertThat(failures.worst()).isNull();
        assertThat(failures.refused()).isEmpty();
        SendFailedException first = failed(0, new KafkaException("first"));
        failures.report(first);
        for (int i = 1; i < 1_000; i++) {
            failures.report(failed(i, new KafkaException("no connection")));
        }
        assertThat(failures.hasAny()).isTrue();
        assertThat(failures.worst()).isSameAs(first);
        SendFailedException late = failed(1_000, new InvalidRecordException("needs a key"));
        failures.report(late);

        assertThat(failures.worst()).isSameAs(late);
        assertThat(failures.refused()).containsExactly(late);
        main.await(Duration.ofHours(1)); // It was woken.
    }

    /** In a Kafka transaction the client fails them with the exception of the record that it has not taken. */
    @Test
    void recordsThatFailedBecauseAnotherOneWasNotTakenAreNotRefused() {
        Failures failures = new Failures(new Waiter(new RelayConfig.Idle(Duration.ofMillis(1), Duration.ofMillis(1))));
        RecordTooLargeException why = new RecordTooLargeException("larger than max.request.size");
        failures.report(failed(1, why));
        failures.report(SendFailedException.notTaken(failed(2, why).record(), why));
        SendFailedException own = failed(3, new InvalidRecordException("needs a key"));
        failures.report(own);

        assertThat(failures.refused()).extracting(each -> each.record().seq()).containsExactly(2L, 3L);
    }

    private static SendFailedException failed(long seq, Exception reason) {
        return new SendFailedException(
                new OutboxRecord(seq, new ProducerRecord<>("t", "k".getBytes(StandardCharsets.UTF_8), null)), reason);
    }
}
