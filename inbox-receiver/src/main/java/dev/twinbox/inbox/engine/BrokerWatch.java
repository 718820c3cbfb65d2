package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.event.Subscription;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;

/**
 * Reports whether Kafka is reachable. A consumer does not report it: without a broker its polls return nothing.
 *
 * <p>Used by the poll thread only.
 */
final class BrokerWatch {

    private static final Logger LOG = System.getLogger(BrokerWatch.class.getName());

    private static final Duration INTERVAL = Duration.ofSeconds(1);
    private static final Duration TOPIC_INTERVAL = Duration.ofSeconds(5);
    private static final Duration TOPIC_TIMEOUT = Duration.ofMillis(200);

    private final Consumer<byte[], byte[]> consumer;
    private final String subject;
    private final ReceiverStatus status;
    private final Set<String> topics;

    /** Topics that are reported as missing. */
    private final Set<String> missing = new HashSet<>();

    private final Duration session;
    private @Nullable Metric connections;
    private @Nullable Metric heartbeatAge;
    private boolean joined;
    private long lookAt = System.nanoTime();
    private long lookForTopicsAt = System.nanoTime();

    /** @param session how long the group waits for a heartbeat before it removes the member */
    BrokerWatch(Consumer<byte[], byte[]> consumer, Subscription subscription, Duration session, ReceiverStatus status) {
        this.consumer = consumer;
        this.session = session;
        this.subject = "kafka group " + subscription.group();
        this.status = status;
        this.topics = subscription.topics();
        status.trouble(subject, "has not joined its group yet; wait, or see the log");
    }

    /** Notes that the group's coordinator has answered. */
    void joined() {
        joined = true;
        lookAt = System.nanoTime();
    }

    /** Checks connections and topics. Does nothing if the last check was a moment ago. */
    void look() {
        long now = System.nanoTime();
        if (now - lookAt >= 0) {
            lookAt = now + INTERVAL.toNanos();
            lookAtConnections();
        }
        if (joined && now - lookForTopicsAt >= 0) {
            lookForTopicsAt = now + TOPIC_INTERVAL.toNanos();
            topics.forEach(this::lookFor);
        }
    }

    /**
     * Connections alone prove nothing: those to a broker that is cut off or paused stay open. Heartbeats prove it: each
     * one waits for the answer to the one before.
     */
    private void lookAtConnections() {
        double silence = heartbeatAge();
        if (connections() == 0) {
            status.trouble(subject, "has no connection to a broker: is the broker reachable?");
        } else if (silence > session.toSeconds()) {
            status.trouble(
                    subject,
                    "has had no heartbeat answered for " + (long) silence
                            + " seconds, so the group has removed it: check that the group's coordinator is reachable");
        } else if (joined && status.recovered(subject)) {
            LOG.log(Level.INFO, "Connected: {0}", subject);
        }
    }

    private double connections() {
        if (connections == null) {
            connections = metric("connection-count", "consumer-metrics");
        }
        return value(connections, 1);
    }

    /** Seconds since the last heartbeat; at most 0 before the first one. */
    private double heartbeatAge() {
        if (heartbeatAge == null) {
            heartbeatAge = metric("last-heartbeat-seconds-ago", "consumer-coordinator-metrics");
        }
        return value(heartbeatAge, 0);
    }

    private @Nullable Metric metric(String name, String group) {
        return consumer.metrics().entrySet().stream()
                .filter(e ->
                        e.getKey().name().equals(name) && e.getKey().group().equals(group))
                .map(Map.Entry::getValue)
                .findFirst()
                .orElse(null);
    }

    private static double value(@Nullable Metric metric, double otherwise) {
        return metric != null && metric.metricValue() instanceof Number number ? number.doubleValue() : otherwise;
    }

    /** The subject under which troubles of a topic are reported. */
    static String about(String topic) {
        return "topic " + topic;
    }

    /** The consumer answers from memory if it knows the topic. A topic may also be deleted later. */
    private void lookFor(String topic) {
        boolean there;
        try {
            there = !consumer.partitionsFor(topic, TOPIC_TIMEOUT).isEmpty();
        } catch (WakeupException e) {
            return; // asked again soon
        } catch (TopicAuthorizationException e) {
            return; // reported by the poll
        } catch (KafkaException e) {
            there = false;
        }
        if (there) {
            if (missing.remove(topic)) {
                status.recovered(about(topic));
            }
        } else {
            status.trouble(about(topic), "does not exist: create it, or correct the handler's topic");
            if (missing.add(topic)) {
                LOG.log(Level.WARNING, "Topic {0} does not exist; its handlers wait until it does", topic);
            }
        }
    }

    /** Reports no topic any more, because the member leaves. The next one looks itself. */
    void end() {
        missing.forEach(topic -> status.recovered(about(topic)));
    }
}
