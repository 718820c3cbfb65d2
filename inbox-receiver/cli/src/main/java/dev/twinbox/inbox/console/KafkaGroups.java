package dev.twinbox.inbox.console;

import dev.twinbox.console.search.KafkaAccess;
import dev.twinbox.inbox.console.GroupLag.Partition;
import dev.twinbox.inbox.jdbc.OffsetTable;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.jspecify.annotations.Nullable;

/** Asks Kafka how far groups and topics are. It changes nothing, and is in no group. For one question and one thread. */
final class KafkaGroups implements AutoCloseable {
    private static final int TIMEOUT_SECONDS = 5;
    private static final Comparator<TopicPartition> ORDER =
            Comparator.comparing(TopicPartition::topic).thenComparing(TopicPartition::partition);

    /** What concerns one group or one topic. The others have an answer all the same. */
    private static final Set<Class<? extends ApiException>> OF_ONE = Set.of(
            AuthorizationException.class, UnknownTopicOrPartitionException.class, GroupIdNotFoundException.class);

    private final KafkaAccess access;
    private final Admin admin;

    /** @throws KafkaException if no client can be made of the settings */
    KafkaGroups(KafkaAccess access) {
        this.access = access;
        this.admin = Admin.create(access.admin());
    }

    /**
     * How far the groups are.
     *
     * @param remembered their offsets in the database
     * @throws KafkaException if Kafka does not answer; its message is for the operator
     */
    List<GroupLag> lags(Collection<String> groups, Collection<OffsetTable.Row> remembered) {
        Map<String, KafkaFuture<ConsumerGroupDescription>> described =
                admin.describeConsumerGroups(groups).describedGroups();
        Map<String, KafkaFuture<Map<TopicPartition, OffsetAndMetadata>>> committed = new HashMap<>();
        groups.forEach(group ->
                committed.put(group, admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata()));
        Map<String, SortedMap<TopicPartition, Partition>> partitions = new TreeMap<>();
        Map<String, String> problems = new HashMap<>();
        for (String group : groups) {
            SortedMap<TopicPartition, Partition> own = rememberedBy(group, remembered);
            partitions.put(group, own);
            try {
                merge(answer(committed.get(group)), own);
            } catch (AuthorizationException e) {
                problems.put(group, "grant " + access.principal() + " Describe on the group " + group);
            }
        }
        withEnds(partitions.values());
        return groups.stream()
                .map(group -> lag(
                        group,
                        described.get(group),
                        List.copyOf(partitions
                                .getOrDefault(group, new TreeMap<>(ORDER))
                                .values()),
                        problems.get(group)))
                .toList();
    }

    private static SortedMap<TopicPartition, Partition> rememberedBy(
            String group, Collection<OffsetTable.Row> remembered) {
        SortedMap<TopicPartition, Partition> partitions = new TreeMap<>(ORDER);
        remembered.stream()
                .filter(row -> row.group().equals(group))
                .forEach(row -> partitions.put(
                        new TopicPartition(row.topic(), row.partition()),
                        new Partition(row.topic(), row.partition(), null, row.next(), null)));
        return partitions;
    }

    private static void merge(
            Map<TopicPartition, OffsetAndMetadata> committed, Map<TopicPartition, Partition> partitions) {
        committed.forEach((key, offset) -> {
            if (offset != null) {
                Partition known = partitions.get(key);
                Long remembered = known == null ? null : known.remembered();
                partitions.put(key, new Partition(key.topic(), key.partition(), offset.offset(), remembered, null));
            }
        });
    }

    private void withEnds(Collection<SortedMap<TopicPartition, Partition>> groups) {
        Map<TopicPartition, OffsetSpec> asked = new HashMap<>();
        groups.forEach(partitions -> partitions.keySet().forEach(key -> asked.put(key, OffsetSpec.latest())));
        ListOffsetsResult answers = admin.listOffsets(asked, new ListOffsetsOptions(IsolationLevel.READ_COMMITTED));
        for (SortedMap<TopicPartition, Partition> partitions : groups) {
            partitions.replaceAll((key, each) ->
                    new Partition(each.topic(), each.number(), each.committed(), each.remembered(), end(answers, key)));
        }
    }

    /** Null: the topic is gone, or may not be seen. */
    private @Nullable Long end(ListOffsetsResult answers, TopicPartition partition) {
        try {
            return answer(answers.partitionResult(partition)).offset();
        } catch (UnknownTopicOrPartitionException | TopicAuthorizationException e) {
            return null;
        }
    }

    private GroupLag lag(
            String group,
            @Nullable KafkaFuture<ConsumerGroupDescription> described,
            List<Partition> partitions,
            @Nullable String problem) {
        try {
            ConsumerGroupDescription known = answer(described);
            return new GroupLag(
                    group, known.groupState().toString(), known.members().size(), partitions, problem);
        } catch (GroupIdNotFoundException e) {
            return new GroupLag(group, "Dead", 0, partitions, problem);
        } catch (AuthorizationException e) {
            return new GroupLag(group, null, null, partitions, problem);
        }
    }

    /**
     * The topics that do not exist, or may not be seen.
     *
     * @return what the operator can do, by topic
     * @throws KafkaException if Kafka does not answer; its message is for the operator
     */
    SortedMap<String, String> missing(Collection<String> topics) {
        SortedMap<String, String> missing = new TreeMap<>();
        SortedSet<String> names = new TreeSet<>(topics);
        var answers = admin.describeTopics(names).topicNameValues();
        for (String topic : names) {
            try {
                answer(answers.get(topic));
            } catch (UnknownTopicOrPartitionException e) {
                missing.put(topic, "create it, Twinbox never does");
            } catch (AuthorizationException e) {
                missing.put(topic, "grant " + access.principal() + " Describe on it");
            }
        }
        return missing;
    }

    /**
     * A topic now.
     *
     * @param id a topic that is created anew has another one
     * @param first offset of the oldest record, by partition
     * @param end of what is committed, by partition
     */
    record TopicParts(UUID id, SortedMap<Integer, Long> first, SortedMap<Integer, Long> end) {}

    /**
     * The partitions of a topic.
     *
     * @throws IllegalArgumentException if it does not exist, or may not be seen
     * @throws KafkaException if Kafka does not answer; its message is for the operator
     */
    TopicParts parts(String topic) {
        String remedy = missing(Set.of(topic)).get(topic);
        if (remedy != null) {
            throw new IllegalArgumentException("topic \"" + topic + "\" cannot be read: check its name, or " + remedy);
        }
        TopicDescription known =
                answer(admin.describeTopics(Set.of(topic)).topicNameValues().get(topic));
        List<TopicPartition> partitions = known.partitions().stream()
                .map(each -> new TopicPartition(topic, each.partition()))
                .toList();
        Uuid id = known.topicId();
        return new TopicParts(
                new UUID(id.getMostSignificantBits(), id.getLeastSignificantBits()),
                offsets(partitions, OffsetSpec.earliest()),
                offsets(partitions, OffsetSpec.latest()));
    }

    private SortedMap<Integer, Long> offsets(Collection<TopicPartition> partitions, OffsetSpec spec) {
        Map<TopicPartition, OffsetSpec> asked = new HashMap<>();
        partitions.forEach(each -> asked.put(each, spec));
        ListOffsetsResult answers = admin.listOffsets(asked, new ListOffsetsOptions(IsolationLevel.READ_COMMITTED));
        SortedMap<Integer, Long> offsets = new TreeMap<>();
        partitions.forEach(each -> offsets.put(
                each.partition(), answer(answers.partitionResult(each)).offset()));
        return offsets;
    }

    /** The offset of the first record of this time or a later one. Null if there is none. */
    @Nullable Long offsetAt(String topic, int partition, Instant time) {
        Long found = offsets(
                        List.of(new TopicPartition(topic, partition)), OffsetSpec.forTimestamp(time.toEpochMilli()))
                .get(partition);
        return found == null || found < 0 ? null : found;
    }

    /** The answer. What concerns one group or topic only is thrown as Kafka has it. */
    private <T> T answer(@Nullable KafkaFuture<T> future) {
        if (future == null) {
            throw new IllegalStateException("Kafka's client has not asked; report it");
        }
        try {
            return future.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            Throwable cause = e.getCause();
            if (cause instanceof AuthenticationException refused) {
                throw new KafkaException(access.login().apply(refused), refused);
            } else if (cause instanceof ApiException known
                    && OF_ONE.stream().anyMatch(type -> type.isInstance(known))) {
                throw known;
            }
            throw away(String.valueOf(cause == null ? e.getMessage() : cause.getMessage()), e);
        } catch (TimeoutException e) {
            throw away("no answer within " + TIMEOUT_SECONDS + " s", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw away("interrupted", e);
        }
    }

    private KafkaException away(String cause, Exception e) {
        return new KafkaException(
                "Kafka at " + access.brokers() + " cannot be asked: " + cause + "; check the brokers and the network",
                e);
    }

    /** What an operator can do about a failure, of its client as well. */
    static String reason(KafkaException failure) {
        return failure.getCause() instanceof ConfigException cause
                ? failure.getMessage() + ": " + cause.getMessage() + "; check " + ConsoleConfig.KAFKA_PREFIX + "*"
                : String.valueOf(failure.getMessage());
    }

    @Override
    public void close() {
        admin.close(Duration.ZERO);
    }
}
