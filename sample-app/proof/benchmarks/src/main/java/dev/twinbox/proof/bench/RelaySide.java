package dev.twinbox.proof.bench;

import dev.twinbox.fixtures.RelayProcess;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/**
 * The measured side: the relay from its executable jar in a new JVM, with a position that says that nothing was sent.
 * Both moments come from the relay's own metrics, which use one monotonic clock.
 */
final class RelaySide implements PublishingSide {

    static final String LABEL = "relay";

    private final String label;
    private final Relays relays;
    private final long events;
    private final List<String> jvmOptions;

    /** @param events how many the outbox holds */
    RelaySide(String label, Relays relays, long events, List<String> jvmOptions) {
        this.label = label;
        this.relays = relays;
        this.events = events;
        this.jvmOptions = jvmOptions;
    }

    @Override
    public String label() {
        return label;
    }

    @Override
    public void prepare() throws SQLException {
        relays.forgetPosition();
    }

    @Override
    public Duration run(Deadline deadline) {
        try (RelayProcess relay = relays.start(jvmOptions)) {
            RelayMetrics metrics = RelayMetrics.awaitAcknowledged(relay, events, deadline);
            Relays.stop(relay);
            return metrics.seconds(RelayMetrics.LAST_ACKNOWLEDGEMENT).minus(metrics.seconds(RelayMetrics.FIRST_READ));
        }
    }
}
