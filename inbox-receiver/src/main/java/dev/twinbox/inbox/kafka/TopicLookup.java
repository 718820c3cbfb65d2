package dev.twinbox.inbox.kafka;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.jspecify.annotations.Nullable;

/**
 * Asks Kafka for what a consumer does not say: ids of topics, rights, offsets at the beginning, at the end and at a
 * time.
 *
 * <p>One client serves all groups of the application. It is created when it is first needed.
 */
public final class TopicLookup implements AutoCloseable {

    private final Map<String, Object> properties;
    private @Nullable Admin admin;
    private boolean isClosed;

    /** The id of the cluster, once it was asked for. It does not change while the application runs. */
    private volatile @Nullable String cluster;

    /** @param properties of the admin client */
    public TopicLookup(Map<String, Object> properties) {
        this.properties = Map.copyOf(properties);
    }

    /**
     * A topic that exists and may be described.
     *
     * @param id a topic that is created anew has another one
     */
    record Topic(TopicId id, int partitions, boolean mayBeRead) {

        private static Topic of(String cluster, TopicDescription description) {
            Set<AclOperation> rights = description.authorizedOperations();
            UUID id = new UUID(
                    description.topicId().getMostSignificantBits(),
                    description.topicId().getLeastSignificantBits());
            return new Topic(
                    new TopicId(cluster, id),
                    description.partitions().size(),
                    rights == null || rights.contains(AclOperation.READ));
        }
    }

    /** The topics that exist and may be described. */
    Map<String, Topic> describe(Collection<String> names) throws ExecutionException, InterruptedException {
        Map<String, Topic> found = new HashMap<>();
        for (Map.Entry<String, KafkaFuture<TopicDescription>> answer :
                ask(names).entrySet()) {
            try {
                found.put(answer.getKey(), Topic.of(cluster(), answer.getValue().get()));
            } catch (ExecutionException e) {
                if (!(e.getCause() instanceof UnknownTopicOrPartitionException
                        || e.getCause() instanceof TopicAuthorizationException
                        || e.getCause() instanceof InvalidTopicException)) {
                    throw e;
                }
            }
        }
        return found;
    }

    /** The id of a topic; null if it does not exist, or may not be described. */
    public @Nullable UUID id(String topic) throws ExecutionException, InterruptedException {
        Topic found = describe(Set.of(topic)).get(topic);
        return found == null ? null : found.id().id();
    }

    private Map<String, KafkaFuture<TopicDescription>> ask(Collection<String> names) {
        return admin().describeTopics(names, new DescribeTopicsOptions().includeAuthorizedOperations(true))
                .topicNameValues();
    }

    private String cluster() throws ExecutionException, InterruptedException {
        String known = cluster;
        if (known == null) {
            known = String.valueOf(admin().describeCluster().clusterId().get());
            cluster = known;
        }
        return known;
    }

    /** The topics that do not exist. One that may not be described may exist. */
    Set<String> missing(Collection<String> names) throws ExecutionException, InterruptedException {
        Set<String> missing = new HashSet<>();
        for (Map.Entry<String, KafkaFuture<TopicDescription>> answer :
                ask(names).entrySet()) {
            try {
                answer.getValue().get();
            } catch (ExecutionException e) {
                if (e.getCause() instanceof UnknownTopicOrPartitionException) {
                    missing.add(answer.getKey());
                } else if (!(e.getCause() instanceof TopicAuthorizationException)) {
                    throw e;
                }
            }
        }
        return missing;
    }

    /** The partitions for which the group has committed an offset. */
    Set<TopicPartition> committed(String group) throws ExecutionException, InterruptedException {
        return admin().listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get().entrySet().stream()
                .filter(entry -> entry.getValue() != null)
                .map(Map.Entry::getKey)
                .collect(Collectors.toSet());
    }

    /**
     * Offsets of the partitions. The end is the end of what is committed: records of an open Kafka transaction come
     * after it.
     */
    Map<TopicPartition, Long> offsets(Collection<TopicPartition> partitions, OffsetSpec spec)
            throws ExecutionException, InterruptedException {
        Map<TopicPartition, OffsetSpec> questions =
                partitions.stream().distinct().collect(Collectors.toMap(Function.identity(), partition -> spec));
        Map<TopicPartition, ListOffsetsResultInfo> answers = admin().listOffsets(
                        questions, new ListOffsetsOptions(IsolationLevel.READ_COMMITTED))
                .all()
                .get();
        return answers.entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey, entry -> entry.getValue().offset()));
    }

    private synchronized Admin admin() {
        if (isClosed) {
            throw new IllegalStateException("The receiver stops: start the application again");
        }
        Admin existing = admin;
        if (existing == null) {
            existing = Admin.create(properties);
            admin = existing;
        }
        return existing;
    }

    /** Does not wait for answers that are missing. */
    @Override
    public synchronized void close() {
        isClosed = true;
        if (admin != null) {
            admin.close(Duration.ZERO);
        }
    }
}
