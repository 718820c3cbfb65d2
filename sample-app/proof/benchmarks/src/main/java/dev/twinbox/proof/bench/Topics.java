package dev.twinbox.proof.bench;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/** Topics and offsets of the benchmark's broker. */
final class Topics implements AutoCloseable {

    private static final Duration POLL = Duration.ofMillis(50);
    // Old segments would stay for a minute and be flushed to disk during the next run.
    private static final Map<String, String> DELETE_SOON = Map.of("file.delete.delay.ms", "500");

    private final Admin admin;
    private final Deadline deadline;

    Topics(String bootstrapServers, Deadline deadline) {
        this.admin = Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers));
        this.deadline = deadline;
    }

    void create(String topic, int partitions) {
        create(topic, partitions, Map.of());
    }

    /** @param config of the topic, beside the settings of all topics */
    void create(String topic, int partitions, Map<String, String> config) {
        Map<String, String> whole = new HashMap<>(DELETE_SOON);
        whole.putAll(config);
        get(
                "the creation of topic " + topic,
                admin.createTopics(Set.of(new NewTopic(topic, partitions, (short) 1).configs(whole)))
                        .all());
        deadline.await("the leaders of topic " + topic, POLL, () -> hasLeaders(topic, partitions));
    }

    /** A topic is created before the broker's own metadata has it. */
    private boolean hasLeaders(String topic, int partitions) {
        return names().contains(topic)
                && get(
                                        "the description of topic " + topic,
                                        admin.describeTopics(Set.of(topic)).allTopicNames())
                                .values()
                                .stream()
                                .flatMap(description -> description.partitions().stream())
                                .filter(partition -> partition.leader() != null)
                                .count()
                        == partitions;
    }

    /** Creates an empty topic, also if one of this name exists. */
    void recreate(String topic, int partitions) {
        recreate(topic, partitions, Map.of());
    }

    void recreate(String topic, int partitions, Map<String, String> config) {
        if (names().contains(topic)) {
            delete(topic);
        }
        create(topic, partitions, config);
    }

    private void delete(String topic) {
        get("the deletion of topic " + topic, admin.deleteTopics(Set.of(topic)).all());
        deadline.await("the deletion of topic " + topic, POLL, () -> !names().contains(topic));
    }

    private Set<String> names() {
        return get("the list of topics", admin.listTopics().names());
    }

    /** The number of all records ever written, transaction markers included. */
    long records(String topic, int partitions) {
        Map<TopicPartition, OffsetSpec> latest = new HashMap<>();
        for (int partition = 0; partition < partitions; partition++) {
            latest.put(new TopicPartition(topic, partition), OffsetSpec.latest());
        }
        return get("the end of topic " + topic, admin.listOffsets(latest).all()).values().stream()
                .mapToLong(ListOffsetsResult.ListOffsetsResultInfo::offset)
                .sum();
    }

    /** The committed offsets of a group by partition, without partitions that have none. */
    Map<Integer, Long> committed(String group, String topic) {
        Map<TopicPartition, @Nullable OffsetAndMetadata> offsets = get(
                "the offsets of group " + group,
                admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata());
        Map<Integer, Long> committed = new HashMap<>();
        offsets.forEach((partition, offset) -> {
            if (offset != null && partition.topic().equals(topic)) {
                committed.put(partition.partition(), offset.offset());
            }
        });
        return committed;
    }

    private <T> T get(String what, KafkaFuture<T> answer) {
        try {
            return answer.get(deadline.remaining(what).toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InvalidRunException("interrupted while waiting for " + what, e);
        } catch (ExecutionException | TimeoutException e) {
            throw new InvalidRunException("Kafka did not answer: " + what, e);
        }
    }

    @Override
    public void close() {
        admin.close(Duration.ofSeconds(5));
    }
}
