package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.config.InboxConfig;
import dev.twinbox.inbox.engine.TopicRetention.Verdict;
import dev.twinbox.inbox.event.ErrorText;
import dev.twinbox.inbox.jdbc.Backoff;
import dev.twinbox.inbox.jdbc.InboxTable;
import dev.twinbox.inbox.jdbc.InboxTable.Expired;
import dev.twinbox.inbox.jdbc.JtaDatabase;
import dev.twinbox.inbox.jdbc.RetentionTable;
import dev.twinbox.inbox.jdbc.RetentionTable.Progress;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The thread that deletes inbox rows whose retention is over, a batch in each transaction. One instance at a time does.
 *
 * <p>It deletes nothing while a topic may keep a record for longer than that, or while that is not known yet: an inbox that grows
 * is a smaller evil than an effect that is repeated.
 */
final class RetentionLoop implements Runnable {

    private static final Logger LOG = System.getLogger(RetentionLoop.class.getName());

    private static final String NOTE = "retention";

    /** A few milliseconds of work: what it holds up, if anything, is not noticed. */
    private static final int BATCH = 1000;

    private static final Duration LONGEST_IDLE = Duration.ofSeconds(10);
    private static final Duration SHORTEST_IDLE = Duration.ofMillis(100);
    private static final Duration SAVE_INTERVAL = Duration.ofSeconds(1);

    /** For rows that were passed over: of parked events settled since, or committed late. */
    private static final Duration SWEEP_INTERVAL = Duration.ofDays(1);

    private static final Duration COMPARE_INTERVAL = Duration.ofMinutes(10);
    private static final Duration COMPARE_AGAIN = Duration.ofSeconds(5);

    private final String group;
    private final Duration keep;
    private final InboxTable inbox;
    private final RetentionTable table;
    private final TopicRetention topics;
    private final JtaDatabase database;
    private final Backoff whenDatabaseFails;
    private final ReceiverStatus status;
    private final Duration idle;
    private final CountDownLatch stopRequested = new CountDownLatch(1);

    /** Written by this thread, read by whoever stops it. */
    private volatile @Nullable Thread comparing;

    private Verdict verdict;
    private long compareAt;
    private @Nullable Instant doneTo;
    private Instant sweptAt = Instant.EPOCH;
    private long saveAt = System.nanoTime();
    private int failures;

    /**
     * @param keep how long rows are kept after their event was handled
     * @param verdict of {@code topics}, at the start
     */
    RetentionLoop(
            InboxConfig config,
            Duration keep,
            InboxTable inbox,
            RetentionTable table,
            TopicRetention topics,
            Verdict verdict,
            JtaDatabase database,
            ReceiverStatus status) {
        this.group = config.group();
        this.keep = keep;
        this.whenDatabaseFails = config.backoff();
        this.inbox = inbox;
        this.table = table;
        this.topics = topics;
        this.database = database;
        this.status = status;
        this.idle = idle(keep);
        this.verdict = verdict;
        note(verdict);
    }

    /** Often enough that what is kept too long does not matter, beside the retention itself. */
    private static Duration idle(Duration keep) {
        Duration tenth = keep.dividedBy(10);
        if (tenth.compareTo(SHORTEST_IDLE) < 0) {
            return SHORTEST_IDLE;
        }
        return tenth.compareTo(LONGEST_IDLE) > 0 ? LONGEST_IDLE : tenth;
    }

    @Override
    public void run() {
        while (isWanted()) {
            pause(runAndReport());
        }
    }

    /** From any thread: ends {@link #run} after the batch that is being deleted. */
    void stop() {
        stopRequested.countDown();
        Thread waiting = comparing;
        if (waiting != null) {
            waiting.interrupt();
        }
    }

    private boolean isWanted() {
        return stopRequested.getCount() > 0 && !Thread.currentThread().isInterrupted();
    }

    /** Returns how long to wait before the next. */
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
            // Half of the time at most, so that a long backlog leaves room for all other work.
            return more ? Duration.ofNanos(System.nanoTime() - begin) : idle;
        } catch (SQLException | RuntimeException | Error e) {
            if (++failures == 1 && isWanted()) {
                LOG.log(
                        Level.WARNING,
                        "Old inbox rows cannot be deleted now, will try again until they can: {0}",
                        ErrorText.of(e));
            }
            return whenDatabaseFails.after(failures);
        }
    }

    private void pause(Duration wait) {
        try {
            if (stopRequested.await(wait.toNanos(), TimeUnit.NANOSECONDS)) {
                LOG.log(Level.DEBUG, "Deletes no more old inbox rows");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** A topic's retention may be changed at any time, and a topic or the broker may come later than we. */
    private void compare() {
        long now = System.nanoTime();
        if (compareAt == 0) {
            compareAt = now + nextCompare(verdict).toNanos();
        }
        if (now - compareAt >= 0) {
            Verdict latest = compareNow();
            if (latest.kind() != Verdict.Kind.UNKNOWN) { // else what was found before still holds
                if (!latest.equals(verdict)) {
                    note(latest);
                }
                verdict = latest;
            }
            compareAt = now + nextCompare(latest).toNanos();
        }
    }

    /** A broker that is away would hold up the stop. */
    private Verdict compareNow() {
        comparing = Thread.currentThread();
        try {
            return topics.compare();
        } finally {
            comparing = null;
        }
    }

    /** No row may go before a topic's new retention is known, if it was raised in time. */
    private Duration nextCompare(Verdict latest) {
        boolean isSettled = latest.kind() == Verdict.Kind.FITS || latest.kind() == Verdict.Kind.NOT_ALLOWED;
        Duration interval = isSettled ? COMPARE_INTERVAL : COMPARE_AGAIN;
        return interval.compareTo(keep) > 0 ? keep : interval;
    }

    /** Not a trouble: nothing is lost or repeated, and no other instance would do better. */
    private void note(Verdict latest) {
        if (latest.text().isEmpty()) {
            status.noteNoMore(NOTE);
        } else {
            status.note(NOTE, latest.text());
            LOG.log(Level.WARNING, latest.text());
        }
    }

    /** Deletes one batch; returns whether there is more to be deleted. */
    boolean runOnce() throws SQLException {
        Optional<Round> round = database.inTransaction(this::round);
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

    /** What is true once it is committed. */
    private record Round(Instant doneTo, Instant sweptAt, boolean isSaved, int deleted, boolean isFull) {}

    /** Empty: another instance is at it. */
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

    /** What this instance has not saved yet counts unless another one has started a sweep since. */
    private Instant from(Progress progress) {
        Instant mine = doneTo;
        return mine != null && progress.sweptAt().equals(sweptAt) && mine.isAfter(progress.doneTo())
                ? mine
                : progress.doneTo();
    }
}
