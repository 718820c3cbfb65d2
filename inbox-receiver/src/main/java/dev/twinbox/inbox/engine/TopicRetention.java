package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.config.ConsumerSettings;
import dev.twinbox.inbox.config.InboxConfig;
import dev.twinbox.inbox.config.InboxSettings;
import dev.twinbox.inbox.event.ErrorText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.jspecify.annotations.Nullable;

/**
 * Compares how long the inbox remembers an event with how long its topic can bring it again. A record that outlives its inbox
 * row has its effect a second time when offsets are reset or lost.
 */
final class TopicRetention {

    /** Also bounds what a broker that is away costs a deployment and an undeployment. */
    private static final int TIMEOUT_MS = 5_000;

    private static final Duration FOR_EVER = Duration.ofSeconds(Long.MAX_VALUE);

    private final InboxConfig config;
    private final Duration keep;
    private final Set<String> topics;

    /**
     * @param keep how long inbox rows are kept
     * @param topics those with handlers whose effects are guarded by inbox rows
     */
    TopicRetention(InboxConfig config, Duration keep, Set<String> topics) {
        this.config = config;
        this.keep = keep;
        this.topics = Set.copyOf(topics);
    }

    /**
     * What came of a comparison.
     *
     * @param problems for {@link Kind#TOO_SHORT} one sentence for each topic, else what an operator should know
     */
    record Verdict(Kind kind, List<String> problems) {

        enum Kind {
            /** No topic keeps a record longer than the inbox its row. */
            FITS,
            /** At least one does. */
            TOO_SHORT,
            /** The broker refuses to say. */
            NOT_ALLOWED,
            /** Kafka does not answer now. */
            UNKNOWN
        }

        /** Whether rows may be deleted. Who withholds the right to compare has to have compared. */
        boolean allowsDeletion() {
            return kind == Kind.FITS || kind == Kind.NOT_ALLOWED;
        }

        /** For an operator; empty if there is nothing to say. */
        String text() {
            String all = String.join(" ", problems);
            return kind == Kind.TOO_SHORT ? all + " Until then no inbox row is deleted." : all;
        }
    }

    /** Asks Kafka; takes a few seconds at most, and ends at once when the thread is interrupted. */
    Verdict compare() {
        Admin admin;
        try {
            admin = Admin.create(properties());
        } catch (KafkaException e) { // an address that no name server knows now, for example
            return unknown(e);
        }
        try {
            SortedMap<String, KafkaFuture<Config>> answers = new TreeMap<>();
            admin.describeConfigs(topics.stream()
                            .map(topic -> new ConfigResource(ConfigResource.Type.TOPIC, topic))
                            .toList())
                    .values()
                    .forEach((resource, answer) -> answers.put(resource.name(), answer));
            return compare(answers);
        } finally {
            admin.close(Duration.ZERO); // what is not answered by now is not waited for
        }
    }

    private Verdict compare(SortedMap<String, KafkaFuture<Config>> answers) {
        List<String> tooShort = new ArrayList<>();
        List<String> notAllowed = new ArrayList<>();
        for (Map.Entry<String, KafkaFuture<Config>> answer : answers.entrySet()) {
            String topic = answer.getKey();
            try {
                Lifetime lifetime = Lifetime.of(answer.getValue().get());
                if (keep.compareTo(lifetime.longest()) < 0) {
                    tooShort.add(problem(topic, lifetime));
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return unknown(e);
            } catch (ExecutionException e) {
                Throwable cause = e.getCause();
                if (cause instanceof AuthorizationException || cause instanceof UnsupportedVersionException) {
                    notAllowed.add(topic + " (" + cause.getMessage() + ")");
                } else if (!(cause instanceof UnknownTopicOrPartitionException)) { // what is not there keeps nothing
                    return unknown(cause == null ? e : cause);
                }
            }
        }
        if (!tooShort.isEmpty()) {
            return new Verdict(Verdict.Kind.TOO_SHORT, tooShort);
        }
        return notAllowed.isEmpty()
                ? new Verdict(Verdict.Kind.FITS, List.of())
                : new Verdict(Verdict.Kind.NOT_ALLOWED, List.of(notAllowed(notAllowed)));
    }

    private String problem(String topic, Lifetime lifetime) {
        boolean forEver = lifetime.longest().equals(FOR_EVER);
        return "Topic " + topic + " may keep a record "
                + (forEver ? "for ever" : "for " + InboxConfig.text(lifetime.longest()))
                + " (" + lifetime.reason() + "), " + InboxSettings.RETENTION.key() + " is " + InboxConfig.text(keep)
                + ": a record that is delivered again after that would have its effect a second time. Set "
                + InboxSettings.RETENTION.key() + " to "
                + (forEver ? "" : InboxConfig.text(lifetime.longest()) + " or more, or to ")
                + "forever, or have the topic keep its records for a shorter time.";
    }

    private String notAllowed(List<String> refusals) {
        return "Whether " + InboxSettings.RETENTION.key() + " " + InboxConfig.text(keep)
                + " is at least as long as the topics keep their records cannot be compared; inbox rows are deleted after it."
                + " Grant the application's Kafka principal DescribeConfigs on the topics, or compare yourself: "
                + String.join(", ", refusals) + ".";
    }

    private static Verdict unknown(Throwable cause) {
        return new Verdict(
                Verdict.Kind.UNKNOWN,
                List.of("How long the topics keep their records is not known yet, so no inbox row is deleted: "
                        + ErrorText.of(cause)));
    }

    private Map<String, Object> properties() {
        Map<String, Object> properties = ConsumerSettings.properties(config, config.group());
        properties.keySet().retainAll(AdminClientConfig.configNames());
        properties.put(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, TIMEOUT_MS);
        properties.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, TIMEOUT_MS);
        return properties;
    }

    /**
     * How long a topic may keep a record.
     *
     * @param reason the topic's settings that it follows from
     */
    private record Lifetime(Duration longest, String reason) {

        /**
         * Kafka deletes whole segments, when the youngest record is old enough; a segment takes records for {@code segment.ms}.
         * Compaction alone keeps the last record of each key, and so may keep any.
         */
        static Lifetime of(Config config) {
            String policy = value(config, TopicConfig.CLEANUP_POLICY_CONFIG);
            if (policy == null || !policy.contains(TopicConfig.CLEANUP_POLICY_DELETE)) {
                return new Lifetime(FOR_EVER, TopicConfig.CLEANUP_POLICY_CONFIG + "=" + policy);
            }
            long retention = number(config, TopicConfig.RETENTION_MS_CONFIG);
            String reason = TopicConfig.RETENTION_MS_CONFIG + "=" + retention;
            if (retention < 0) {
                return new Lifetime(FOR_EVER, reason);
            }
            long segment = number(config, TopicConfig.SEGMENT_MS_CONFIG);
            return new Lifetime(
                    Duration.ofMillis(retention).plus(Duration.ofMillis(segment)),
                    reason + " and " + TopicConfig.SEGMENT_MS_CONFIG + "=" + segment);
        }

        private static long number(Config config, String name) {
            String value = value(config, name);
            return value == null ? 0 : Long.parseLong(value);
        }

        private static @Nullable String value(Config config, String name) {
            ConfigEntry entry = config.get(name);
            return entry == null ? null : entry.value();
        }
    }
}
