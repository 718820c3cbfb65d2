package dev.twinbox.inbox;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;

/**
 * Tells from the poll thread whether Kafka is there: a consumer itself says nothing, its polls just stay empty.
 */
final class BrokerWatch {

    private static final Logger LOG = System.getLogger(BrokerWatch.class.getName());

    private static final Duration INTERVAL = Duration.ofSeconds(1);
    private static final Duration TOPIC_INTERVAL = Duration.ofSeconds(5);
    private static final Duration TOPIC_TIMEOUT = Duration.ofMillis(200);

    private final Consumer<byte[], byte[]> consumer;
    private final String subject;
    private final InboxStatus status;
    private final Set<String> topicsToFind;
    private @Nullable Metric connections;
    private boolean joined;
    private long lookAt = System.nanoTime();
    private long lookForTopicsAt = System.nanoTime();

    BrokerWatch(Consumer<byte[], byte[]> consumer, Subscription subscription, InboxStatus status) {
        this.consumer = consumer;
        this.subject = "kafka group " + subscription.group();
        this.status = status;
        this.topicsToFind = new HashSet<>(subscription.topics());
        status.trouble(subject, "has not joined its group yet");
    }

    /** The group's coordinator has answered. */
    void joined() {
        joined = true;
        lookAt = System.nanoTime();
    }

    /** Looks now and then. */
    void look() {
        long now = System.nanoTime();
        if (now - lookAt >= 0) {
            lookAt = now + INTERVAL.toNanos();
            lookAtConnections();
        }
        if (joined && !topicsToFind.isEmpty() && now - lookForTopicsAt >= 0) {
            lookForTopicsAt = now + TOPIC_INTERVAL.toNanos();
            topicsToFind.removeIf(this::isThere);
        }
    }

    private void lookAtConnections() {
        if (connections() == 0) {
            status.trouble(subject, "has no connection to a broker");
        } else if (joined && status.recovered(subject)) {
            LOG.log(Level.INFO, "Connected: {0}", subject);
        }
    }

    private double connections() {
        Metric metric = connections;
        if (metric == null) {
            metric = consumer.metrics().entrySet().stream()
                    .filter(e -> e.getKey().name().equals("connection-count")
                            && e.getKey().group().equals("consumer-metrics"))
                    .map(Map.Entry::getValue)
                    .findFirst()
                    .orElse(null);
            connections = metric;
        }
        return metric != null && metric.metricValue() instanceof Double count ? count : 1;
    }

    private boolean isThere(String topic) {
        String about = "topic " + topic;
        boolean there;
        try {
            there = !consumer.partitionsFor(topic, TOPIC_TIMEOUT).isEmpty();
        } catch (WakeupException e) {
            return false; // asked again soon
        } catch (KafkaException e) {
            there = false;
        }
        if (there) {
            status.recovered(about);
        } else if (status.trouble(about, "does not exist, or may not be read")) {
            LOG.log(Level.WARNING, "Topic {0} does not exist, or may not be read; its handlers wait for it", topic);
        }
        return there;
    }
}
