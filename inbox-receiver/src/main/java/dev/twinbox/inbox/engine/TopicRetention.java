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
 * Compares how long the inbox keeps a row with how long the topic keeps the record. If a record outlives its inbox row
 * and is redelivered, its effect happens again. That occurs when offsets are reset or lost.
 */
final class TopicRetention {

    private static final Duration FOR_EVER = Duration.ofSeconds(Long.MAX_VALUE);

    private final InboxConfig config;
    private final Duration keep;
    private final Set<String> topics;

    /**
     * @param keep how long inbox rows are kept
     * @param topics the topics with handlers whose effects are protected by inbox rows
     */
    TopicRetention(InboxConfig config, Duration keep, Set<String> topics) {
        this.config = config;
        this.keep = keep;
        this.topics = Set.copyOf(topics);
    }

    /**
     * The result of a comparison.
     *
     * @param problems for {@link Kind#TOO_SHORT} one problem for each topic, otherwise advice for the operator
     */
    record ParkingDecision(Kind kind, List<String> problems) {

        enum Kind {
            /** No topic keeps a record longer than the inbox keeps its row. */
            FITS,
            /** At least one topic does. */
            TOO_SHORT,
            /** The broker denies access to the topic's configuration. */
            NOT_ALLOWED,
            /** Kafka does not answer now. */
            UNKNOWN
        }

        /**
         * Whether rows may be deleted. Without the right to compare, the operator is responsible for the comparison.
         */
        boolean allowsDeletion() {
            return kind == Kind.FITS || kind == Kind.NOT_ALLOWED;
        }

        /** A text for the operator; empty if there is nothing to report. */
        String text() {
            String all = String.join(" ", problems);
            return kind == Kind.TOO_SHORT ? all + " Until then no inbox row is deleted." : all;
        }
    }

    /** Asks Kafka. Takes a few seconds at most, and ends at once when the thread is interrupted. */
    ParkingDecision compare() {
        Admin admin;
        try {
            admin = Admin.create(ConsumerSettings.adminProperties(config));
        } catch (KafkaException e) { // for example, an address that cannot be resolved now
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
            admin.close(Duration.ZERO); // without a wait for answers that are still missing
        }
    }

    private ParkingDecision compare(SortedMap<String, KafkaFuture<Config>> answers) {
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
                } else if (!(cause
                        instanceof UnknownTopicOrPartitionException)) { // a topic that does not exist keeps nothing
                    return unknown(cause == null ? e : cause);
                }
            }
        }
        if (!tooShort.isEmpty()) {
            return new ParkingDecision(ParkingDecision.Kind.TOO_SHORT, tooShort);
        }
        return notAllowed.isEmpty()
                ? new ParkingDecision(ParkingDecision.Kind.FITS, List.of())
                : new ParkingDecision(ParkingDecision.Kind.NOT_ALLOWED, List.of(notAllowed(notAllowed)));
    }

    private String problem(String topic, Lifetime lifetime) {
        boolean forEver = lifetime.longest().equals(FOR_EVER);
        return "Topic " + topic + " may keep a record "
                + (forEver ? "for ever" : "for " + InboxConfig.text(lifetime.longest()))
                + " (" + lifetime.reason() + "), " + InboxSettings.RETENTION.key() + " is " + InboxConfig.text(keep)
                + ": a record that is redelivered after that would have its effect again. Set "
                + InboxSettings.RETENTION.key() + " to "
                + (forEver ? "" : InboxConfig.text(lifetime.longest()) + " or more, or to ")
                + "forever, or let the topic keep its records for a shorter time.";
    }

    private String notAllowed(List<String> refusals) {
        return InboxSettings.RETENTION.key() + " " + InboxConfig.text(keep)
                + " cannot be compared with the retention of the topics. Inbox rows are deleted after this time."
                + " Grant the application's Kafka principal DescribeConfigs on the topics, or compare yourself: "
                + String.join(", ", refusals) + ".";
    }

    private static ParkingDecision unknown(Throwable cause) {
        return new ParkingDecision(
                ParkingDecision.Kind.UNKNOWN,
                List.of("The retention of the topics is not known yet, so no inbox row is deleted: "
                        + ErrorText.of(cause)));
    }

    /**
     * How long a topic may keep a record.
     *
     * @param reason the topic's settings that determine it
     */
    private record Lifetime(Duration longest, String reason) {

        /**
         * Kafka deletes whole segments, once the youngest record of a segment is old enough. A segment takes records
         * for {@code segment.ms}. Compaction alone keeps the last record of each key, so any record may be kept for
         * ever.
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
