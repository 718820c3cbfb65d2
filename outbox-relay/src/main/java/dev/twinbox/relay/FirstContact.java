package dev.twinbox.relay;

import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.InterruptException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tries whether Kafka lets the relay in until it does: a wrong password or an unknown certificate shows when the relay starts,
 * and not with the first event. Of one thread.
 */
final class FirstContact {
    private static final Logger LOG = LoggerFactory.getLogger(FirstContact.class);

    private final SessionContext session;
    private boolean made;
    private boolean failed;
    private boolean refused;

    FirstContact(SessionContext session) {
        this.session = session;
    }

    /** Returns at once when contact has been made, else within the time limit of a request. */
    void makeOnce() {
        if (made) {
            return;
        }
        try {
            session.topics().greet();
            made = true;
            session.progress().brokerAnswered();
            if (refused) {
                session.failures().report(session.login().admitted());
            }
        } catch (InterruptException e) {
            throw e;
        } catch (KafkaException e) {
            refused |= e.getCause() instanceof AuthenticationException;
            tell(e);
            failed = true;
        }
    }

    private void tell(KafkaException refusal) {
        String what = String.valueOf(refusal.getMessage());
        session.progress().brokerFailed(what);
        if (!failed && refusal.getCause() instanceof AuthenticationException) {
            LOG.error("Nothing can be sent: {}", what);
        } else if (!failed) {
            LOG.warn("Kafka can not be asked, trying again: {}", what);
        }
    }
}
