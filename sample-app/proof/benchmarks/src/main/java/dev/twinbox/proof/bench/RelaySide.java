package dev.twinbox.proof.bench;

import dev.twinbox.fixtures.RelayProcess;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The measured side: the relay from its executable jar in a new JVM, with a position that says that nothing was sent.
 * Both moments come from the relay's own metrics, which use one monotonic clock.
 */
final class RelaySide implements PublishingSide {

    static final String LABEL = "relay";

    private static final Pattern BEGUN = Pattern.compile("(?m)^(\\S+Z) INFO RelaySession: Relaying ");

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
    public Timed run(Deadline deadline) {
        try (RelayProcess relay = relays.start(jvmOptions)) {
            RelayMetrics metrics = RelayMetrics.awaitAcknowledged(relay, events, deadline);
            Relays.stop(relay);
            Duration took =
                    metrics.seconds(RelayMetrics.LAST_ACKNOWLEDGEMENT).minus(metrics.seconds(RelayMetrics.FIRST_READ));
            return new Timed(took, begun(relay.log()));
        }
    }

    /** The relay logs this just before its first read. */
    private static Instant begun(String log) {
        Matcher line = BEGUN.matcher(log);
        if (!line.find()) {
            throw new InvalidRunException("the relay's log does not say when it began:\n" + log);
        }
        return Instant.parse(line.group(1));
    }
}
