package dev.twinbox.proof.bench;

import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * As {@link RelaySide}, but exactly-once. Kafka's state of a relay cannot be reset like its position in the database,
 * so each run has a relay with a new name.
 */
final class ExactlyOnceSide implements PublishingSide {

    static final String LABEL = "relay, exactly once";

    private static final AtomicInteger RUNS = new AtomicInteger();

    private final String label;
    private final Relays relays;
    private final long events;
    private final List<String> jvmOptions;
    private Relays present;

    /** @param events how many the outbox holds */
    ExactlyOnceSide(String label, Relays relays, long events, List<String> jvmOptions) {
        this.label = label;
        this.relays = relays.with("twinbox.relay.delivery", "exactly-once");
        this.present = this.relays;
        this.events = events;
        this.jvmOptions = jvmOptions;
    }

    @Override
    public String label() {
        return label;
    }

    @Override
    public void prepare() throws SQLException {
        present = relays.with("twinbox.relay.name", "exactly-once-" + RUNS.incrementAndGet());
        present.migrate(); // creates the topic of its position
        present.forgetPosition();
    }

    /** An event counts as acknowledged when its Kafka transaction is committed. */
    @Override
    public Timed run(Deadline deadline) {
        return new RelaySide(label, present, events, jvmOptions).run(deadline);
    }
}
