package dev.twinbox.proof.bench;

import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/**
 * As {@link RelaySide}, but exactly-once. Kafka's state of a relay cannot be reset like its position in the database,
 * so each run has a relay with a new name.
 */
final class ExactlyOnceSide implements PublishingSide {

    static final String LABEL = "relay, exactly once";

    private final Relays relays;
    private final long events;
    private final List<String> jvmOptions;
    private Relays present;
    private int runs;

    /** @param events how many the outbox holds */
    ExactlyOnceSide(Relays relays, long events, List<String> jvmOptions) {
        this.relays = relays.with("twinbox.relay.delivery", "exactly-once");
        this.present = this.relays;
        this.events = events;
        this.jvmOptions = jvmOptions;
    }

    @Override
    public String label() {
        return LABEL;
    }

    @Override
    public void prepare() throws SQLException {
        runs++;
        present = relays.with("twinbox.relay.name", "exactly-once-" + runs);
        present.migrate(); // creates the topic of its position
        present.forgetPosition();
    }

    /** An event counts as acknowledged when its Kafka transaction is committed. */
    @Override
    public Duration run(Deadline deadline) {
        return new RelaySide(LABEL, present, events, jvmOptions).run(deadline);
    }
}
