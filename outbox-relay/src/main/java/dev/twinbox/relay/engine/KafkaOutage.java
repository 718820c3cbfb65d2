package dev.twinbox.relay.engine;

import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.OutboxRecord;
import dev.twinbox.relay.kafka.KafkaLogin;
import java.time.Duration;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Waits while Kafka is unreachable, and notices when it accepts the relay's login again. Only for the sending thread.
 */
final class KafkaOutage {
    private static final Logger LOG = LoggerFactory.getLogger(KafkaOutage.class);

    private final KafkaLogin login;
    private final Failures failures;
    private final Progress progress;
    private final Waiter waiter;
    private final Duration retry;
    private boolean refused; // Kafka refused the login

    KafkaOutage(RelayConfig config, KafkaLogin login, Failures failures, Progress progress) {
        this.login = login;
        this.failures = failures;
        this.progress = progress;
        this.waiter = new Waiter(config.idle());
        this.retry = config.retry();
    }

    /** Waits before the next request, after one that Kafka did not answer. */
    void await(OutboxRecord record, KafkaException reason) throws InterruptedException {
        refused |= reason.getCause() instanceof AuthenticationException;
        report(record, reason);
        waiter.await(retry);
    }

    /** The producer did not take a record for now. It has already waited for its {@code max.block.ms}. */
    void recordNotTaken(OutboxRecord record, Exception reason) throws InterruptedException {
        refused |= reason instanceof AuthenticationException;
        report(record, reason);
    }

    /** Kafka has answered. If it had refused the login before, the session ends, since a new producer is needed. */
    void endSessionIfAdmitted() throws InterruptedException {
        if (refused) {
            failures.report(login.admitted());
            throw new InterruptedException("the session needs a new producer");
        }
    }

    private void report(OutboxRecord record, Exception reason) throws InterruptedException {
        if (failures.hasAny() || Thread.interrupted()) {
            throw new InterruptedException("the session has failed");
        }
        String what = String.valueOf(reason.getMessage());
        progress.recordBrokerFailure(what);
        LOG.warn("Waiting to send {}: {}", record, what);
    }
}
