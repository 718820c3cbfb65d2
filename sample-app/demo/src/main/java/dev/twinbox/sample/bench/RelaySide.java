package dev.twinbox.sample.bench;

import dev.twinbox.fixtures.RelayProcess;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/**
 * What is measured: the relay from its executable jar in a fresh JVM, started on a position that says nothing was sent yet, and
 * paused until its start is over: a relay that meets a backlog has been running. Its two moments come from the relay's own
 * metrics, which it takes on one monotonic clock.
 */
final class RelaySide implements PublishingSide {

    static final String LABEL = "relay";

    private static final Duration STEP = Duration.ofMillis(500);
    /** So little of a core's time within a step: nothing is compiled any more. */
    private static final Duration REST = Duration.ofMillis(50);

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
        relays.pause();
    }

    @Override
    public Duration run(Deadline deadline) {
        try (RelayProcess relay = relays.start(jvmOptions)) {
            awaitStart(relay, deadline);
            relays.resume();
            RelayMetrics metrics = RelayMetrics.awaitAcknowledged(relay, events, deadline);
            Relays.stop(relay);
            return metrics.seconds(RelayMetrics.LAST_ACKNOWLEDGEMENT).minus(metrics.seconds(RelayMetrics.FIRST_READ));
        }
    }

    /** Until it has the lease, and what the JVM has to do at its start is done. */
    private static void awaitStart(RelayProcess relay, Deadline deadline) {
        deadline.await("the relay to take the lease", STEP, () -> {
            RelayMetrics metrics = RelayMetrics.of(relay);
            return !metrics.isEmpty() && metrics.value(RelayMetrics.LEASE_HELD) == 1;
        });
        Duration[] used = {Duration.ZERO};
        deadline.await("the relay to come to rest", STEP, () -> {
            Duration before = used[0];
            used[0] = ProcessorTime.of(relay.pid());
            return used[0].minus(before).compareTo(REST) < 0;
        });
    }
}
