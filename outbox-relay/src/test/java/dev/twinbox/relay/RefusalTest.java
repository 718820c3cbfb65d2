package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.ClusterAuthorizationException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.NetworkException;
import org.apache.kafka.common.errors.NotEnoughReplicasException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.junit.jupiter.api.Test;

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
        assertThat(Refusal.told(guilty.record(), guilty.reason(), new KafkaLogin("User:relay")))
                .contains("seq 2", "topic \"t\"", "key \"k\"", "compacted");
    }

    private static SendFailedException failed(long seq, Exception reason) {
        return new SendFailedException(
                new OutboxRecord(seq, new ProducerRecord<>("t", "k".getBytes(StandardCharsets.UTF_8), null)), reason);
    }
}
