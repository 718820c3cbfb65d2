package dev.twinbox.relay.kafka;

import dev.twinbox.TopicName;
import dev.twinbox.relay.config.RelayConfig;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the relay must know of topics before it sends to them, asked once and kept. A good answer is kept until Kafka
 * refuses something. A bad one is kept for a moment only. Lives as long as the process; for all its threads.
 */
public final class Topics implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Topics.class);

    /** A missing topic may have been created since, or a limit raised. */
    private static final Duration FRESH = Duration.ofSeconds(1);

    private static final int TIMEOUT_SECONDS = 5;
    private static final int KEPT = 10_000;

    private final Map<String, Object> settings;
    private final KafkaLogin login;
    private final Set<String> unlimited = ConcurrentHashMap.newKeySet();
    private final Map<String, Topic> known = new ConcurrentHashMap<>();
    private final Map<String, Identity> identities = new ConcurrentHashMap<>();
    private @Nullable Admin admin;

    /**
     * Which topic a name stands for.
     *
     * @param since monotonic time at which the name was first found to stand for it; 0: at the first look
     */
    private record Identity(Uuid id, int partitions, long since) {
        /** A topic never loses partitions. Brokers before version 2.8 have no ids. */
        boolean isOtherThan(Identity earlier) {
            return !id.equals(earlier.id) || partitions < earlier.partitions;
        }
    }

    public Topics(RelayConfig.Kafka kafka) {
        this.settings = settings(kafka);
        this.login = KafkaLogin.of(kafka);
    }

    /** The relay's identity in Kafka. */
    public KafkaLogin login() {
        return login;
    }

    /** The settings of an administration client, with short timeouts. */
    static Map<String, Object> settings(RelayConfig.Kafka kafka) {
        Map<String, Object> settings = new HashMap<>(kafka.settings());
        settings.keySet().retainAll(AdminClientConfig.configNames());
        settings.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, TIMEOUT_SECONDS * 1_000);
        settings.put(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, TIMEOUT_SECONDS * 1_000);
        return settings;
    }

    /**
     * The topic as it is now. If it had no obstacle when it was first asked for, that answer is used.
     *
     * @throws KafkaException if Kafka must be asked and does not answer
     */
    public Topic of(String name) {
        Topic topic = known.get(name);
        return topic != null && topic.status() == Topic.Status.AVAILABLE ? topic : fresh(name);
    }

    /**
     * The topic as it was at most one second ago.
     *
     * @throws KafkaException if Kafka does not answer
     */
    public Topic fresh(String name) {
        Topic topic = known.get(name);
        if (topic == null || System.nanoTime() - topic.readAt() > FRESH.toNanos()) {
            topic = ask(name);
            if (known.size() >= KEPT) {
                known.clear();
                unlimited.clear();
                identities.clear();
            }
            known.put(name, topic);
        }
        return topic;
    }

    /**
     * Whether the topic was created anew after this monotonic time. A producer that was opened before has batches for
     * partitions that may be gone.
     */
    public boolean isCreatedAnewSince(String name, long time) {
        Identity identity = identities.get(name);
        return identity != null && identity.since() != 0 && identity.since() - time > 0;
    }

    private void identify(String name, TopicDescription description) {
        Identity now =
                new Identity(description.topicId(), description.partitions().size(), 0);
        identities.merge(name, now, (earlier, same) -> {
            if (!now.isOtherThan(earlier)) {
                return new Identity(now.id(), now.partitions(), earlier.since());
            }
            LOG.warn(
                    "Topic \"{}\" was created anew, it has {} partitions instead of {}",
                    name,
                    now.partitions(),
                    earlier.partitions());
            return new Identity(now.id(), now.partitions(), System.nanoTime());
        });
    }

    /** Kafka refused something, or the topic may be gone: drops what was known of it. */
    public void forget(String name) {
        known.remove(name);
    }

    /**
     * Sends a request that needs no permission.
     *
     * @throws KafkaException if Kafka does not answer
     */
    public synchronized void ping() {
        answer(admin().describeCluster().nodes());
    }

    private synchronized Topic ask(String name) {
        long now = System.nanoTime();
        if (!TopicName.isLegal(name)) {
            return Topic.obstacle(Topic.Status.REFUSED, "\"" + name + "\" is not a legal topic name", now);
        }
        try {
            return describe(name, now);
        } catch (UnknownTopicOrPartitionException e) {
            String missing = "topic \"" + name + "\" does not exist: create it, the relay never does";
            return Topic.obstacle(Topic.Status.MISSING, missing, now);
        } catch (InvalidTopicException | TopicAuthorizationException e) {
            return Topic.obstacle(Topic.Status.REFUSED, Refusal.describe(name, e, login), now);
        }
    }

    private Topic describe(String name, long now) {
        TopicDescription description = answer(
                admin().describeTopics(List.of(name), new DescribeTopicsOptions().includeAuthorizedOperations(true))
                        .topicNameValues()
                        .get(name));
        Set<AclOperation> allowed = description.authorizedOperations();
        if (allowed != null && !allowed.isEmpty() && !allowed.contains(AclOperation.WRITE)) {
            throw new TopicAuthorizationException(Set.of(name));
        }
        identify(name, description);
        Map<String, String> config = config(name);
        int minInSync = number(config, TopicConfig.MIN_IN_SYNC_REPLICAS_CONFIG, 1);
        return new Topic(
                Topic.Status.AVAILABLE,
                null,
                description.partitions().size(),
                number(config, TopicConfig.MAX_MESSAGE_BYTES_CONFIG, Integer.MAX_VALUE),
                config.getOrDefault(TopicConfig.CLEANUP_POLICY_CONFIG, "").contains(TopicConfig.CLEANUP_POLICY_COMPACT)
                        ? Topic.Key.REQUIRED
                        : Topic.Key.OPTIONAL,
                description.partitions().stream()
                        .filter(partition -> !isWritable(partition, minInSync))
                        .map(TopicPartitionInfo::partition)
                        .collect(Collectors.toUnmodifiableSet()),
                now);
    }

    private static boolean isWritable(TopicPartitionInfo partition, int minInSync) {
        // Since Kafka 4, a limit above the number of replicas is ignored.
        int needed = Math.min(minInSync, partition.replicas().size());
        return partition.leader() != null
                && !partition.leader().isEmpty()
                && partition.isr().size() >= needed;
    }

    /**
     * Without permission to read the settings nothing can be checked in advance. Then only Kafka's refusal reports a
     * problem.
     */
    private Map<String, String> config(String name) {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, name);
        Map<String, String> values = new HashMap<>();
        try {
            Config config =
                    answer(admin().describeConfigs(List.of(resource)).values().get(resource));
            for (ConfigEntry entry : config.entries()) {
                if (entry.value() != null) {
                    values.put(entry.name(), entry.value());
                }
            }
        } catch (AuthorizationException e) {
            reportUnreadableSettings(name);
        }
        return values;
    }

    /** Reported once for each topic. */
    private void reportUnreadableSettings(String name) {
        if (unlimited.add(name)) {
            // A warning could be suppressed, and this line comes only once.
            LOG.error(
                    "The settings of topic \"{}\" may not be read: an event that is too large or lacks a key is "
                            + "only found by Kafka's refusal, which restarts the session. Remedy: "
                            + "grant {} DescribeConfigs on it",
                    name,
                    login.principal());
        }
    }

    private static int number(Map<String, String> config, String name, int fallback) {
        String value = config.get(name);
        return value == null ? fallback : Integer.parseInt(value);
    }

    private Admin admin() {
        Admin present = admin;
        if (present == null) {
            present = Admin.create(settings);
            admin = present;
        }
        return present;
    }

    private <T> T answer(@Nullable KafkaFuture<T> future) {
        return answer(future, login);
    }

    static <T> T answer(@Nullable KafkaFuture<T> future, KafkaLogin login) {
        if (future == null) {
            throw new KafkaException("Kafka's answer does not contain what was asked for; the relay retries");
        }
        try {
            return future.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof AuthenticationException refused) {
                throw new KafkaException(login.explain(refused), refused);
            }
            throw e.getCause() instanceof KafkaException known
                    ? known
                    : new KafkaException(String.valueOf(e.getMessage()), e);
        } catch (TimeoutException e) {
            throw new KafkaException("no answer within " + TIMEOUT_SECONDS + " s", e);
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        }
    }

    /** Whether Kafka gave no answer within the time, as opposed to a refusal. */
    public static boolean isSilence(KafkaException failure) {
        return failure instanceof org.apache.kafka.common.errors.TimeoutException
                || failure.getCause() instanceof TimeoutException;
    }

    @Override
    public synchronized void close() {
        if (admin != null) {
            admin.close(Duration.ZERO);
            admin = null;
        }
    }
}
