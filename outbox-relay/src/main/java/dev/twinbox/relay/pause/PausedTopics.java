package dev.twinbox.relay.pause;

import dev.twinbox.jdbc.SqlState;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.config.RelaySettings;
import dev.twinbox.relay.jdbc.OutboxRecord;
import dev.twinbox.relay.jdbc.ParkedTable;
import dev.twinbox.relay.jdbc.PausedEvents;
import dev.twinbox.relay.jdbc.PausedTopicTable;
import dev.twinbox.schema.OutboxSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The topics that an operator has paused, and how much is set aside for them. The housekeeping thread reads the topics from
 * their table. The sending thread asks for each record, without the database. It also holds the position when the limit is
 * reached: a page goes on only if all its events of paused topics have room, or if nothing is set aside yet. The page that
 * is being sent when a pause begins may exceed the limit.
 *
 * <p>Rows are counted after the topics have changed. From then on, parked events are added. What an operator discards is
 * not subtracted, so the rows are counted again while the limit is reached. A pause does not wait for the count: the
 * position is held until it is known.
 */
public final class PausedTopics {
    private static final Logger LOG = LoggerFactory.getLogger(PausedTopics.class);

    /** A count reads all that is parked. */
    private static final int LOOKS_PER_COUNT = 5;

    private final PausedEvents.Size most;
    private final PauseGate gate;
    private volatile SortedMap<String, Instant> topics = Collections.emptySortedMap();
    private volatile @Nullable String limitReached; // written by the sending thread
    private volatile @Nullable String countFailure; // of the last count; written by the thread of refresh()
    private volatile Runnable listener = () -> {};
    private boolean isCounted = true; // whether beforeSession is of the present topics; guarded by this
    private int looks; // while the limit is reached; used by the thread of refresh()

    /** Parked, but their rows are not visible yet. */
    private final Map<Long, PausedEvents.Size> pending = new HashMap<>(); // guarded by this

    private PausedEvents.Size pendingSize = PausedEvents.Size.NOTHING; // guarded by this
    private PausedEvents.Size saved = PausedEvents.Size.NOTHING; // of the whole session; guarded by this
    private PausedEvents.Size beforeSession =
            PausedEvents.Size.NOTHING; // counted without what is saved; guarded by this

    /** No topic is paused until {@link #refresh}. */
    public PausedTopics(RelayConfig.Parking limits, PauseGate gate) {
        this.most = new PausedEvents.Size(limits.pausedRows(), limits.pausedBytes());
        this.gate = gate;
    }

    /** Calls this after each change of the topics, on the thread of {@link #refresh}. */
    public void listen(Runnable newListener) {
        listener = newListener;
    }

    /**
     * Reads which topics are paused, when a session begins and nothing is sent yet. {@link #refresh} counts. A role that may
     * not read the table cannot have paused a topic. So the relay goes on, if the table was created while it ran.
     */
    public void begin(Connection connection, OutboxSchema tables, String relay) throws SQLException {
        try {
            readTopics(new PausedTopicTable(connection, tables, relay));
        } catch (SQLException e) {
            if (!SqlState.INSUFFICIENT_PRIVILEGE.isOf(e)) {
                throw e;
            }
            LOG.error(
                    "Paused topics cannot be read, so no topic counts as paused ({}): grant select on {} to the relay's "
                            + "role",
                    e.getMessage(),
                    tables.paused());
        }
    }

    /** Reads which topics are paused now. Called by one thread at a time. */
    public void refresh(PausedTopicTable table, PausedEvents events) throws SQLException {
        readTopics(table);
        boolean isDue = !isCounted() && countFailure == null;
        if (isDue || ((!isCounted() || limitReached != null) && ++looks % LOOKS_PER_COUNT == 0)) {
            tryToCount(events);
        }
    }

    private void readTopics(PausedTopicTable table) throws SQLException {
        SortedMap<String, Instant> now = table.setAside();
        SortedMap<String, Instant> before = topics;
        if (now.equals(before)) {
            return;
        }
        synchronized (this) {
            topics = now;
            isCounted = false;
        }
        countFailure = null;
        gate.recordChange();
        report(before, now);
        listener.run();
    }

    /** May take long, and may fail, if very much is parked. */
    private void tryToCount(PausedEvents events) throws SQLException {
        try {
            count(events);
            countFailure = null;
        } catch (SQLException e) {
            countFailure = e.getMessage();
            throw e;
        } finally {
            gate.recordChange();
        }
    }

    private void count(PausedEvents events) throws SQLException {
        SortedMap<String, Instant> counted = topics;
        PausedEvents.Size savedBefore = saved();
        PausedEvents.Size size =
                counted.isEmpty() ? PausedEvents.Size.NOTHING : events.count(counted.keySet(), most.rows() + 1);
        synchronized (this) {
            beforeSession = size.minus(savedBefore);
            isCounted = true;
        }
    }

    private synchronized boolean isCounted() {
        return isCounted;
    }

    private static void report(SortedMap<String, Instant> before, SortedMap<String, Instant> now) {
        now.forEach((topic, since) -> {
            if (!since.equals(before.get(topic))) {
                LOG.info(
                        "Topic \"{}\" is paused since {}, by an operator or for a job of \"resend\": its events are set "
                                + "aside until \"twinbox-relay resume --topic {}\", or the end of the job",
                        topic,
                        since,
                        topic);
            }
        });
        before.keySet().stream()
                .filter(topic -> !now.containsKey(topic))
                .forEach(topic -> LOG.info("Topic \"{}\" is not paused any more: sending its events", topic));
    }

    private synchronized PausedEvents.Size saved() {
        return saved;
    }

    /** The paused topics, each with the beginning of its pause by the database's clock. */
    public SortedMap<String, Instant> topics() {
        return topics;
    }

    public boolean contains(String topic) {
        return topics.containsKey(topic);
    }

    /** An event is parked. Only for the sending thread. */
    public void recordParked(OutboxRecord record) {
        if (contains(record.topic())) {
            PausedEvents.Size size = PausedEvents.Size.of(record);
            synchronized (this) {
                pending.put(record.seq(), size);
                pendingSize = pendingSize.plus(size);
            }
        }
    }

    /** The rows of these events are visible now. */
    public synchronized void recordSaved(List<ParkedTable.Entry> entries) {
        for (ParkedTable.Entry entry : entries) {
            PausedEvents.Size size = pending.remove(entry.record().seq());
            if (size != null) {
                pendingSize = pendingSize.minus(size);
                saved = saved.plus(size);
            }
        }
    }

    /** Waits until the relay is not paused and these records may be sent or set aside. Only for the sending thread. */
    public void awaitRoom(List<OutboxRecord> records) throws InterruptedException {
        gate.awaitOpen(() -> hasRoomFor(records));
    }

    /** As {@link #awaitRoom(List)}, but returns false if this is not so within this time. */
    public boolean awaitRoom(Duration time, List<OutboxRecord> records) throws InterruptedException {
        return gate.awaitOpen(time, () -> hasRoomFor(records));
    }

    /** Whether {@link #awaitRoom(List)} would return at once. Only for the sending thread. */
    public boolean isOpenFor(List<OutboxRecord> records) {
        return !gate.isClosed() && hasRoomFor(records);
    }

    /** Whether nothing may be sent to any topic. */
    public boolean isRelayPaused() {
        return gate.isClosed();
    }

    private boolean hasRoomFor(List<OutboxRecord> records) {
        PausedEvents.Size needed = PausedEvents.Size.NOTHING;
        if (!topics.isEmpty()) {
            for (OutboxRecord record : records) {
                if (contains(record.topic())) {
                    needed = needed.plus(PausedEvents.Size.of(record));
                }
            }
        }
        PausedEvents.Size present = present();
        PausedEvents.Size after = present.plus(needed);
        boolean isCounted = isCounted();
        boolean hasRoom = needed.rows() == 0
                || (isCounted
                        && (present.rows() <= 0 || (after.rows() <= most.rows() && after.bytes() <= most.bytes())));
        String why = hasRoom ? null : isCounted ? explain(present) : explainFailure();
        if (why != null && limitReached == null) {
            LOG.warn("Nothing more is sent: {}", why);
        }
        limitReached = why;
        return hasRoom;
    }

    private synchronized PausedEvents.Size present() {
        return beforeSession.plus(saved).plus(pendingSize);
    }

    private String explain(PausedEvents.Size present) {
        return "at least " + present.rows() + " events with " + present.bytes()
                + " bytes are set aside for paused topics ("
                + String.join(", ", topics.keySet()) + "), and there is no room for the next ones. Resume a topic with "
                + "\"twinbox-relay resume --topic\", discard events with \"twinbox-relay parked discard\", or raise "
                + RelaySettings.PAUSED_ROWS.key() + " (" + most.rows() + ") or " + RelaySettings.PAUSED_BYTES.key()
                + " ("
                + most.bytes() + ")";
    }

    /** Null if it is only not counted yet. */
    private @Nullable String explainFailure() {
        String failure = countFailure;
        return failure == null
                ? null
                : "what is set aside for paused topics (" + String.join(", ", topics.keySet()) + ") cannot be counted: "
                        + failure + ". Repair what the database says, or resume the topics";
    }

    /** Why the position is held, for the operator; null: it is not. */
    public @Nullable String limitReached() {
        return limitReached;
    }
}
