package dev.twinbox.relay;

import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/** Asks Kafka which topics it does not have. */
final class MissingTopics {
    private static final int TIMEOUT_SECONDS = 5;

    private MissingTopics() {}

    /**
     * Those of the topics that do not exist.
     *
     * @throws KafkaException if Kafka cannot be asked
     */
    static SortedSet<String> among(Set<String> topics, RelayConfig.Kafka kafka) {
        SortedSet<String> missing = new TreeSet<>();
        try (Admin admin = Admin.create(Topics.settings(kafka))) {
            Map<String, KafkaFuture<TopicDescription>> answers =
                    admin.describeTopics(topics).topicNameValues();
            for (Map.Entry<String, KafkaFuture<TopicDescription>> answer : answers.entrySet()) {
                if (isMissing(answer.getValue())) {
                    missing.add(answer.getKey());
                }
            }
        }
        return missing;
    }

    private static boolean isMissing(KafkaFuture<TopicDescription> answer) {
        try {
            answer.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
            return false;
        } catch (ExecutionException e) {
            if (e.getCause() instanceof UnknownTopicOrPartitionException) {
                return true;
            }
            throw new KafkaException(String.valueOf(e.getMessage()), e);
        } catch (TimeoutException e) {
            throw new KafkaException("no answer within " + TIMEOUT_SECONDS + " s", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new KafkaException("interrupted", e);
        }
    }
}
