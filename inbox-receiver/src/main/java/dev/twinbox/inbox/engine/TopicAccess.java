package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.event.Subscription;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;

/**
 * Subscribes to the topics that may be read. A consumer polls nothing while one of its topics is forbidden. So a
 * forbidden topic is left out until it may be read.
 *
 * <p>Used by the poll thread only.
 */
final class TopicAccess {

    private static final Logger LOG = System.getLogger(TopicAccess.class.getName());

    private static final Duration INTERVAL = Duration.ofSeconds(2);

    private final Consumer<byte[], byte[]> consumer;
    private final Subscription subscription;
    private final ConsumerRebalanceListener listener;
    private final BackgroundQueries inquiries;
    private final GroupOffsets memory;
    private final ReceiverStatus status;
    private final Set<String> forbidden = new TreeSet<>();
    private boolean isAsking;
    private long askAt = System.nanoTime();

    TopicAccess(
            Consumer<byte[], byte[]> consumer,
            Subscription subscription,
            ConsumerRebalanceListener listener,
            BackgroundQueries inquiries,
            GroupOffsets memory,
            ReceiverStatus status) {
        this.consumer = consumer;
        this.subscription = subscription;
        this.listener = listener;
        this.inquiries = inquiries;
        this.memory = memory;
        this.status = status;
    }

    /** Subscribes to all topics that are not known to be forbidden. */
    void subscribe() {
        Set<String> topics = new HashSet<>(subscription.topics());
        topics.removeAll(forbidden);
        if (topics.isEmpty()) {
            consumer.unsubscribe();
        } else {
            consumer.subscribe(topics, listener);
        }
    }

    /** Whether there is a topic to poll. */
    boolean isSubscribed() {
        return forbidden.size() < subscription.topics().size();
    }

    /** Goes on without these topics. */
    void forbid(Collection<String> topics) {
        boolean isNew = false;
        for (String topic : topics) {
            // The leader of a group also meets topics that only other members read.
            if (subscription.topics().contains(topic) && forbidden.add(topic)) {
                isNew = true;
                report(topic);
            }
        }
        if (isNew) {
            subscribe();
        }
    }

    private void report(String topic) {
        String text = "may not be read: grant Read on topic " + topic + " to the application's Kafka user "
                + "(kafka-acls.sh --add --allow-principal User:<user> --operation Read --topic " + topic
                + "). Its handlers wait; other topics go on";
        status.trouble(BrokerWatch.about(topic), text);
        LOG.log(Level.ERROR, "Topic {0} {1}", topic, text);
    }

    /** Asks whether the forbidden topics may be read by now. */
    void runOnce() {
        if (forbidden.isEmpty() || isAsking || System.nanoTime() - askAt < 0) {
            return;
        }
        isAsking = true;
        Set<String> asked = Set.copyOf(forbidden);
        inquiries.ask(() -> memory.readable(asked), this::allow, failure -> asked());
    }

    private void asked() {
        isAsking = false;
        askAt = System.nanoTime() + INTERVAL.toNanos();
    }

    private void allow(Set<String> topics) {
        asked();
        if (forbidden.removeAll(topics)) {
            topics.forEach(topic -> status.recovered(BrokerWatch.about(topic)));
            LOG.log(Level.INFO, "Topics {0} may be read now; group {1} reads them", topics, subscription.group());
            subscribe();
        }
    }
}
