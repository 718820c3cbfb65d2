package dev.twinbox.relay.engine;

import dev.twinbox.relay.kafka.Topics;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.InterruptException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks Kafka until it lets the relay in. So a wrong password or an unknown certificate shows when the relay starts, not
 * with the first event. For one thread.
 */
final class KafkaAccessCheck {
    private static final Logger LOG = LoggerFactory.getLogger(KafkaAccessCheck.class);

    private final Topics topics;
    private final Failures failures;
    private final Progress progress;
    private boolean made;
    private boolean failed;
    private boolean refused;

    KafkaAccessCheck(Topics topics, Failures failures, Progress progress) {
        this.topics = topics;
        this.failures = failures;
        this.progress = progress;
    }

    /** Returns at once after the first contact; before it, within the time limit of a request. */
    void makeOnce() {
        if (made) {
            return;
        }
        try {
            topics.ping();
            made = true;
            progress.recordBrokerAnswer();
            if (refused) {
                failures.report(topics.login().admitted());
            }
        } catch (InterruptException e) {
            throw e;
        } catch (KafkaException e) {
            refused |= e.getCause() instanceof AuthenticationException;
            report(e);
            failed = true;
        }
    }

    /** <b>Remedy.</b> The rest of the message names it. */
    private void report(KafkaException refusal) {
        String what = String.valueOf(refusal.getMessage());
        progress.recordBrokerFailure(what);
        if (!failed && refusal.getCause() instanceof AuthenticationException) {
            LOG.error("Nothing can be sent: {}", what);
        } else if (!failed) {
            LOG.warn("Kafka does not answer, trying again: {}", what);
        }
    }
}
