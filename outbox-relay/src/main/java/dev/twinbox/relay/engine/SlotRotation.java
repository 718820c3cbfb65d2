package dev.twinbox.relay.engine;

import dev.twinbox.relay.jdbc.EventSlots;
import dev.twinbox.relay.jdbc.EventSlots.Outcome;
import dev.twinbox.schema.OutboxSchema;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Empties the inactive slots of the event table as soon as all their events are sent and no session uses them. If it
 * fails for longer, the log reports it once. Metrics and status show it as long as it lasts. Only for the housekeeping
 * thread.
 */
final class SlotRotation {
    private static final Logger LOG = LoggerFactory.getLogger(SlotRotation.class);

    /** The relay's own polls use each slot for a moment. Between two polls the slot is free. */
    private static final int TRIES = 20;

    private static final long BETWEEN_TRIES = Duration.ofMillis(1).toNanos();
    private static final Duration WORTH_A_WARNING = Duration.ofMinutes(1);

    private final EventSlots slots;
    private final OutboxSchema tables;
    private final ObservedOutbox observed;
    private final Duration warnAfter;
    private @Nullable String warned;

    SlotRotation(EventSlots slots, OutboxSchema tables, ObservedOutbox observed) {
        this(slots, tables, observed, WORTH_A_WARNING);
    }

    SlotRotation(EventSlots slots, OutboxSchema tables, ObservedOutbox observed, Duration warnAfter) {
        this.slots = slots;
        this.tables = tables;
        this.observed = observed;
        this.warnAfter = warnAfter;
    }

    /** Empties the slots that can be emptied; returns how many. */
    int runOnce() throws SQLException {
        int current = slots.current();
        int emptied = 0;
        long bytes = 0;
        List<String> stops = new ArrayList<>();
        for (int slot = 0; slot < OutboxSchema.EVENT_SLOTS; slot++) {
            EventSlots.Size size = slots.size(slot);
            if (slot != current && size.rows() > 0) {
                Outcome outcome = empty(slot, size.all());
                if (outcome.kind() == Outcome.Kind.EMPTIED) {
                    emptied++;
                    size = slots.size(slot);
                } else {
                    stops.add(tables.eventsSlot(slot) + ": " + outcome.detail());
                }
            }
            bytes += size.all();
        }
        report(bytes, stops);
        return emptied;
    }

    private Outcome empty(int slot, long bytes) throws SQLException {
        Outcome outcome = slots.tryEmpty(slot);
        for (int i = 1; i < TRIES && outcome.kind() == Outcome.Kind.LOCKED; i++) {
            LockSupport.parkNanos(BETWEEN_TRIES);
            outcome = slots.tryEmpty(slot);
        }
        if (outcome.kind() == Outcome.Kind.EMPTIED) {
            observed.recordSlotEmptied();
            LOG.info("Emptied slot {}, {} kB: all of it is sent", tables.eventsSlot(slot), bytes / 1024);
        } else if (outcome.kind() == Outcome.Kind.LOCKED) {
            List<String> holders = slots.holders(slot);
            return new Outcome(
                    outcome.kind(), holders.isEmpty() ? "in use" : "in use by " + String.join(", ", holders));
        }
        return outcome;
    }

    private void report(long bytes, List<String> stops) {
        String stop = String.join("; ", stops);
        observed.recordRotation(bytes, stop);
        if (stop.isEmpty()) {
            warned = null;
        } else if (warned == null && observed.rotationStopped().compareTo(warnAfter) >= 0) {
            warned = stop;
            LOG.warn(
                    "The outbox grows: for {} s an inactive slot could not be emptied. {}. "
                            + "Nothing is lost, and the relay retries; \"status\" shows when the slot is empty",
                    observed.rotationStopped().toSeconds(),
                    stop);
        }
    }
}
