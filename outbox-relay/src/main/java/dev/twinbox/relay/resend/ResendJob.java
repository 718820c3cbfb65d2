package dev.twinbox.relay.resend;

import dev.twinbox.relay.jdbc.Position;
import dev.twinbox.relay.jdbc.SentEvents;
import java.time.Instant;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A job as its row has it.
 *
 * @param held compacted topics, whose other events are set aside until the job is over
 * @param position of the relay when the job began; null: it has not begun
 * @param after all rows up to this number are done
 * @param epoch of the lease under which it went on last; 0: under none
 * @param error why it has failed, or the first refusal; null: there was none
 * @param endedAt null: it is not over
 */
public record ResendJob(
        long number,
        State state,
        SentEvents.Range range,
        Set<String> held,
        @Nullable Position position,
        long after,
        long epoch,
        Sent sent,
        @Nullable String error,
        Instant requestedAt,
        @Nullable Instant endedAt) {
    /** How a job stands. */
    public enum State {
        REQUESTED,
        RUNNING,
        FINISHED,
        FAILED,
        CANCELED
    }

    /**
     * Numbers of events.
     *
     * @param sent repeated ones included
     * @param parked left out, because they wait in the table of parked events
     * @param refused left out, because Kafka does not take them
     */
    public record Sent(long sent, long parked, long refused) {
        static final Sent NOTHING = new Sent(0, 0, 0);

        Sent plus(Sent other) {
            return new Sent(sent + other.sent, parked + other.parked, refused + other.refused);
        }
    }

    /** Whether it is not over. */
    public boolean isActive() {
        return state == State.REQUESTED || state == State.RUNNING;
    }
}
