package dev.twinbox.relay.kafka;

import dev.twinbox.TopicName;
import dev.twinbox.relay.config.RelayConfig;
import java.util.List;
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
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.jspecify.annotations.Nullable;

/**
 * What Kafka shows the relay of a topic, for an operator.
 *
 * @param partitions how many it has; 0 if there is a problem
 * @param leaderless partitions that take nothing, because they have no leader
 * @param problem why it cannot be seen, as what the operator can do; null: it can
 */
public record TopicState(
        int partitions, List<Integer> leaderless, @Nullable String problem) {
    private static final int TIMEOUT_SECONDS = 5;

    /**
     * The state of each topic.
     *
     * @throws KafkaException if Kafka does not answer
     */
    public static SortedMap<String, TopicState> of(Set<String> topics, RelayConfig.Kafka kafka) {
        SortedMap<String, TopicState> states = new TreeMap<>();
        if (topics.isEmpty()) {
            return states;
        }
        KafkaLogin login = KafkaLogin.of(kafka);
        try (Admin admin = Admin.create(Topics.settings(kafka))) {
            Set<String> legal = topics.stream().filter(TopicName::isLegal).collect(Collectors.toSet());
            topics.stream()
                    .filter(topic -> !legal.contains(topic))
                    .forEach(topic ->
                            states.put(topic, problem("it is not a legal topic name; correct it in the application")));
            Map<String, KafkaFuture<TopicDescription>> answers =
                    admin.describeTopics(legal).topicNameValues();
            answers.forEach((topic, answer) -> states.put(topic, state(answer, login)));
        }
        return states;
    }

    private static TopicState problem(String problem) {
        return new TopicState(0, List.of(), problem);
    }

    private static TopicState state(KafkaFuture<TopicDescription> answer, KafkaLogin login) {
        try {
            List<TopicPartitionInfo> partitions =
                    answer.get(TIMEOUT_SECONDS, TimeUnit.SECONDS).partitions();
            List<Integer> leaderless = partitions.stream()
                    .filter(each -> each.leader() == null || each.leader().isEmpty())
                    .map(TopicPartitionInfo::partition)
                    .toList();
            return new TopicState(partitions.size(), leaderless, null);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof UnknownTopicOrPartitionException) {
                return problem("create it, the relay never does");
            }
            if (e.getCause() instanceof TopicAuthorizationException) {
                return problem("grant " + login.principal() + " Write on it");
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
