package dev.twinbox.relay.kafka;

import dev.twinbox.TopicName;
import dev.twinbox.relay.config.RelayConfig;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.jspecify.annotations.Nullable;

/** Asks Kafka which topics do not exist or are hidden from the relay. */
public final class MissingTopics {
    private static final int TIMEOUT_SECONDS = 5;

    private MissingTopics() {}

    /**
     * The topics that cannot be seen, each with what the operator can do.
     *
     * @throws KafkaException if Kafka does not answer
     */
    public static SortedMap<String, String> among(Set<String> topics, RelayConfig.Kafka kafka) {
        SortedMap<String, String> missing = new TreeMap<>();
        KafkaLogin login = KafkaLogin.of(kafka);
        try (Admin admin = Admin.create(Topics.settings(kafka))) {
            Set<String> legal = topics.stream().filter(TopicName::isLegal).collect(Collectors.toSet());
            topics.stream()
                    .filter(topic -> !legal.contains(topic))
                    .forEach(
                            topic -> missing.put(topic, "it is not a legal topic name; correct it in the application"));
            Map<String, KafkaFuture<TopicDescription>> answers =
                    admin.describeTopics(legal).topicNameValues();
            for (Map.Entry<String, KafkaFuture<TopicDescription>> answer : answers.entrySet()) {
                String remedy = remedy(answer.getValue(), login);
                if (remedy != null) {
                    missing.put(answer.getKey(), remedy);
                }
            }
        }
        return missing;
    }

    private static @Nullable String remedy(KafkaFuture<TopicDescription> answer, KafkaLogin login) {
        try {
            answer.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
            return null;
        } catch (ExecutionException e) {
            if (e.getCause() instanceof UnknownTopicOrPartitionException) {
                return "create it, the relay never does";
            }
            if (e.getCause() instanceof TopicAuthorizationException) {
                return "grant " + login.principal() + " Write on it";
            }
            if (e.getCause() instanceof AuthenticationException refused) {
                throw new KafkaException(login.explain(refused), refused);
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
