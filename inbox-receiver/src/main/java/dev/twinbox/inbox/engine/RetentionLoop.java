package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.config.InboxConfig;
import dev.twinbox.inbox.engine.TopicRetention.ParkingDecision;
import dev.twinbox.inbox.event.ErrorText;
import dev.twinbox.inbox.jdbc.Backoff;
import dev.twinbox.inbox.jdbc.InboxTable;
import dev.twinbox.inbox.jdbc.InboxTable.Expired;
import dev.twinbox.inbox.jdbc.JtaDatabase;
import dev.twinbox.inbox.jdbc.RetentionTable;
import dev.twinbox.inbox.jdbc.RetentionTable.Progress;
import dev.twinbox.inbox.jdbc.RetriedWrites;
import dev.twinbox.thread.StopRequest;
import dev.twinbox.thread.Supervisor;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The thread that deletes inbox rows whose retention is over. It deletes one batch per transaction. Only one instance
 * at a time deletes.
 *
 * <p>It deletes nothing while a topic may keep a record longer than that, or while this is not known. An inbox that
 * grows does less harm than a repeated effect.
 */
final class RetentionLoop implements Supervisor.Loop {

    private static final Logger LOG = System.getLogger(RetentionLoop.class.getName());

    private static final String NOTE = "retention";

    /** One batch takes a few milliseconds, so it delays other work very little. */
    private static final int BATCH = 1000;

    private static final Duration LONGEST_IDLE = Duration.ofSeconds(10);
    private static final Duration SHORTEST_IDLE = Duration.ofMillis(100);
    private static final Duration SAVE_INTERVAL = Duration.ofSeconds(1);

    /**
     * A sweep starts at the oldest row again. It finds rows that earlier rounds skipped: their events were parked then,
     * or committed late.
     */
    private static final Duration SWEEP_INTERVAL = Duration.ofDays(1);

    private static final Duration COMPARE_INTERVAL = Duration.ofMinutes(10);
    private static final Duration COMPARE_AGAIN = Duration.ofSeconds(5);

    private final String group;
    private final Duration keep;
    private final InboxTable inbox;
    private final RetentionTable table;
    private final TopicRetention topics;
    private final RetriedWrites writes;
    private final Backoff whenDatabaseFails;
    private final ReceiverStatus status;
    private final Duration idle;
    private final StopRequest stop;

    /** Written by this thread, read by the thread that stops it. */
    private volatile @Nullable Thread comparing;

    private ParkingDecision verdict;
    private long compareAt;
    private @Nullable Instant doneTo;
    private Instant sweptAt = Instant.EPOCH;
    private long saveAt = System.nanoTime();
    private int failures;

    /**
     * @param keep how long rows are kept after their event was handled
     * @param verdict the result of the comparison at the start
     */
    RetentionLoop(
            InboxConfig config,
            Duration keep,
            InboxTable inbox,
            RetentionTable table,
            TopicRetention topics,
            ParkingDecision verdict,
            JtaDatabase database,
            ReceiverStatus status,
            StopRequest stop) {
        this.group = config.group();
        this.keep = keep;
        this.whenDatabaseFails = config.backoff();
        this.inbox = inbox;
        this.table = table;
        this.topics = topics;
        this.writes = new RetriedWrites(database);
        this.status = status;
        this.stop = stop;
        this.idle = idle(keep);
        this.verdict = verdict;
        note(verdict);
    }

    /** A tenth of the retention. So a row is kept only a little longer than configured. */
    private static Duration idle(Duration keep) {
        Duration tenth = keep.dividedBy(10);
        if (tenth.compareTo(SHORTEST_IDLE) < 0) {
            return SHORTEST_IDLE;
        }
        return tenth.compareTo(LONGEST_IDLE) > 0 ? LONGEST_IDLE : tenth;
    }

    @Override
    public void run() {
        while (!stop.isAsked()) {
            stop.await(runAndReport());
        }
    }

    /** Ends a comparison that is in progress, after the request to stop. May be called from any thread. */
    void wakeUp() {
        Thread waiting = comparing;
        if (waiting != null) {
            waiting.interrupt();
        }
    }

    /** Returns how long to wait before the next round. */
    private Duration runAndReport() {
        try {
            compare();
            if (!verdict.allowsDeletion()) {
                return idle;
            }
            long begin = System.nanoTime();
            boolean more = runOnce();
            if (failures > 0) {
                failures = 0;
                LOG.log(Level.INFO, "Old inbox rows can be deleted again");
            }
            // Deletes at most half of the time, so that a large backlog leaves room for other work.
            return more ? Duration.ofNanos(System.nanoTime() - begin) : idle;
        } catch (SQLException | RuntimeException | Error e) {
            if (++failures == 1 && !stop.isAsked()) {
                LOG.log(
                        Level.WARNING,
                        "Old inbox rows cannot be deleted; the receiver retries until they can: {0}",
                        ErrorText.of(e));
            }
            return whenDatabaseFails.after(failures);
        }
    }

    /**
     * Compares again at intervals. A topic's retention can change at any time, and the topic or the broker may be
     * available later only.
     */
    private void compare() {
        long now = System.nanoTime();
        if (compareAt == 0) {
            compareAt = now + nextCompare(verdict).toNanos();
        }
        if (now - compareAt >= 0) {
            ParkingDecision latest = compareNow();
            if (latest.kind() != ParkingDecision.Kind.UNKNOWN) { // otherwise the last known result still holds
                if (!latest.equals(verdict)) {
                    note(latest);
                }
                verdict = latest;
            }
            compareAt = now + nextCompare(latest).toNanos();
        }
    }

    /** Can be interrupted, because a broker that is down would delay the stop. */
    private ParkingDecision compareNow() {
        comparing = Thread.currentThread();
        try {
            return topics.compare();
        } finally {
            comparing = null;
        }
    }

    /**
     * The interval is never longer than the retention. So a topic's retention that is raised in time is known before
     * the first row is deleted.
     */
    private Duration nextCompare(ParkingDecision latest) {
        boolean isSettled =
                latest.kind() == ParkingDecision.Kind.FITS || latest.kind() == ParkingDecision.Kind.NOT_ALLOWED;
        Duration interval = isSettled ? COMPARE_INTERVAL : COMPARE_AGAIN;
        return interval.compareTo(keep) > 0 ? keep : interval;
    }

    /** This is not a trouble: nothing is lost or repeated, and no other instance would do better. */
    private void note(ParkingDecision latest) {
        if (latest.text().isEmpty()) {
            status.removeNote(NOTE);
        } else {
            status.note(NOTE, latest.text());
            LOG.log(Level.WARNING, latest.text());
        }
    }

    /** Deletes one batch. Returns whether there is more to delete. */
    boolean runOnce() throws SQLException {
        Optional<Round> round = writes.run(this::round);
        if (round.isEmpty()) {
            return false;
        }
        Round done = round.get();
        doneTo = done.doneTo();
        sweptAt = done.sweptAt();
        if (done.isSaved()) {
            saveAt = System.nanoTime() + SAVE_INTERVAL.toNanos();
        }
        status.expired(done.deleted());
        return done.isFull();
    }

    /** The state that is valid once the transaction is committed. */
    private record Round(Instant doneTo, Instant sweptAt, boolean isSaved, int deleted, boolean isFull) {}

    /** Empty if another instance deletes at the moment. */
    private Optional<Round> round(Connection connection) throws SQLException {
        if (doneTo == null) {
            table.ensure(connection, group);
        }
        Progress progress = table.lock(connection, group, keep, SWEEP_INTERVAL);
        if (progress == null) {
            return Optional.empty();
        }
        Instant from = progress.isSweepDue() ? Instant.EPOCH : from(progress);
        Expired expired = inbox.deleteExpired(connection, group, from, progress.until(), BATCH);
        Instant to = expired.isFull() ? expired.to() : progress.until();
        Instant swept = progress.sweptAt();
        boolean save = !expired.isFull() || System.nanoTime() - saveAt >= 0;
        if (progress.isSweepDue()) {
            swept = table.saveSweep(connection, group, to);
            save = true;
        } else if (save && to.isAfter(progress.doneTo())) {
            table.save(connection, group, to);
        }
        return Optional.of(new Round(to, swept, save, expired.deleted(), expired.isFull()));
    }

    /** Progress that this instance has not saved yet counts, unless another instance has started a sweep since. */
    private Instant from(Progress progress) {
        Instant mine = doneTo;
        return mine != null && progress.sweptAt().equals(sweptAt) && mine.isAfter(progress.doneTo())
                ? mine
                : progress.doneTo();
    }
}
