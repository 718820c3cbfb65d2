package dev.twinbox.inbox.replay;

import dev.twinbox.inbox.config.InboxConfig;
import dev.twinbox.inbox.event.ErrorText;
import dev.twinbox.inbox.event.ReceivedEvent;
import dev.twinbox.inbox.pause.Pauses;
import dev.twinbox.inbox.replay.EventHandling.Next;
import dev.twinbox.inbox.replay.EventHandling.Part;
import dev.twinbox.inbox.replay.EventHandling.Result;
import dev.twinbox.inbox.replay.EventHandling.Start;
import dev.twinbox.thread.StopRequest;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Carries out one job, until it is done, lost or given back. Used once, by one thread. */
final class ReplayRun {

    private static final Logger LOG = System.getLogger(ReplayRun.class.getName());

    private static final Duration PAUSED = Duration.ofMillis(400);
    private static final Duration BUSY = Duration.ofMillis(50);
    private static final Duration HEARTBEAT = Duration.ofSeconds(1);

    private final InboxConfig config;
    private final ReplayLease lease;
    private final ReplaySource source;
    private final EventHandling.OfJob handling;
    private final Pauses pauses;
    private final StopRequest stop;

    /** How the first events were left by the owner before. */
    private Start start;

    ReplayRun(
            InboxConfig config,
            ReplayLease lease,
            ReplaySource source,
            EventHandling.OfJob handling,
            Start start,
            Pauses pauses,
            StopRequest stop) {
        this.config = config;
        this.lease = lease;
        this.source = source;
        this.handling = handling;
        this.start = start;
        this.pauses = pauses;
        this.stop = stop;
    }

    /** Returns whether the job is done. Otherwise the receiver stops. */
    boolean run() throws SQLException, InterruptedException, JobLostException, JobFailedException {
        for (int place = 0; place < lease.size(); place++) {
            while (lease.partition(place).next() < lease.partition(place).to()) {
                if (!awaitMayCall()) {
                    return false;
                }
                ReplaySource.Page page = source.read(lease.partition(place));
                if (!handle(place, page)) {
                    return false;
                }
            }
        }
        return true;
    }

    /** Waits while the topic is paused, or the circuit breaker of the handler is open. False: the receiver stops. */
    private boolean awaitMayCall() throws SQLException, JobLostException {
        while (!stop.isAsked()) {
            lease.renew();
            if (handling.mayCall() && !pauses.isTopicPaused(lease.job().topic())) {
                return true;
            }
            stop.await(PAUSED);
        }
        return false;
    }

    /** Handles a page in parts. The progress is saved after each, so a crash leaves one part open. */
    private boolean handle(int place, ReplaySource.Page page)
            throws SQLException, InterruptedException, JobLostException {
        List<ReceivedEvent> rest = page.events();
        while (!rest.isEmpty()) {
            if (!awaitMayCall()) {
                return false;
            }
            Part part = handling.handle(
                    rest.subList(0, Math.min(rest.size(), config.batch().size())), start);
            if (part == null) {
                stop.await(BUSY);
                continue;
            }
            Result result = await(part);
            rest = rest.subList(result.settled(), rest.size());
            lease.settled(place, rest.isEmpty() ? page.next() : rest.get(0).offset(), result.counts());
            if (result.settled() > 0) {
                start = Start.CLEAN;
            }
            lease.save();
            waitAfter(result, rest);
        }
        if (page.others().gone() > 0) {
            LOG.log(
                    Level.WARNING,
                    "Job {0}: {1} offsets of {2}-{3} are gone by the topic''s retention",
                    lease.job().number(),
                    page.others().gone(),
                    lease.job().topic(),
                    lease.partition(place).number());
        }
        lease.settled(place, page.next(), page.others());
        return true;
    }

    /** Waits for the worker. The lease is renewed meanwhile; if it is lost, the worker ends first. */
    private Result await(Part part) throws SQLException, InterruptedException, JobLostException {
        JobLostException lost = null;
        Result result = part.await(HEARTBEAT);
        while (result == null) {
            lost = lost == null ? heartbeat() : lost;
            if (stop.isAsked() || lost != null) {
                part.cutShort();
            }
            result = part.await(HEARTBEAT);
        }
        if (lost != null) {
            throw lost;
        }
        return result;
    }

    /** Returns the reason if the job is lost. A database that is away says nothing about it. */
    private @Nullable JobLostException heartbeat() {
        try {
            lease.renew();
            return null;
        } catch (JobLostException e) {
            return e;
        } catch (SQLException e) {
            LOG.log(
                    Level.DEBUG,
                    "The lease of job {0} cannot be renewed now",
                    lease.job().number(),
                    e);
            return null;
        }
    }

    private void waitAfter(Result result, List<ReceivedEvent> rest) throws SQLException {
        Throwable cause = result.cause();
        if (result.next() == Next.WAIT_FOR_DATABASE) {
            throw new SQLException(cause == null ? "the database failed" : ErrorText.of(cause), cause);
        }
        if (result.next() == Next.WAIT && !rest.isEmpty()) {
            stop.await(config.backoff().after(Math.max(1, rest.get(0).tries())));
        } else if (result.next() == Next.LOOK_AT_JOB) {
            stop.await(BUSY);
        }
    }
}
