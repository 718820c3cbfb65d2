package dev.twinbox.inbox.replay;

import dev.twinbox.inbox.jdbc.ReplayJob;
import dev.twinbox.inbox.jdbc.ReplayJob.Counts;
import dev.twinbox.inbox.jdbc.ReplayJob.Partition;
import dev.twinbox.inbox.jdbc.ReplayTable;
import dev.twinbox.inbox.jdbc.RetriedWrites;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One job of this instance, and how far it is. The lease ends by the database's clock. Whoever pauses for longer loses the
 * job, and can claim nothing for it from then on.
 *
 * <p>Used by one thread.
 */
final class ReplayLease {

    /** An instance that dies holds its job up for as long. */
    static final Duration LEASE = Duration.ofSeconds(15);

    private static final long RENEW_NANOS = Duration.ofSeconds(1).toNanos();

    private final ReplayTable table;
    private final RetriedWrites writes;
    private final ReplayJob job;
    private final UUID owner;
    private final List<Partition> partitions;
    private Counts counts;
    private long savedAt = System.nanoTime();

    ReplayLease(ReplayTable table, RetriedWrites writes, ReplayJob job, UUID owner) {
        this.table = table;
        this.writes = writes;
        this.job = job;
        this.owner = owner;
        this.partitions = new ArrayList<>(job.partitions());
        this.counts = job.counts();
    }

    ReplayJob job() {
        return job;
    }

    UUID owner() {
        return owner;
    }

    Counts counts() {
        return counts;
    }

    /** The partition at this place of the job. */
    Partition partition(int place) {
        return partitions.get(place);
    }

    int size() {
        return partitions.size();
    }

    /** Notes that all before this offset is settled. {@link #save} or {@link #renew} writes it. */
    void settled(int place, long next, Counts more) {
        partitions.set(place, partitions.get(place).at(next));
        counts = counts.plus(more);
    }

    /** Saves how far the job is, and renews the lease. */
    void save() throws SQLException, JobLostException {
        List<Partition> now = List.copyOf(partitions);
        Counts all = counts;
        if (!writes.run(connection -> table.save(connection, job.number(), owner, now, all, LEASE))) {
            throw new JobLostException(job.number());
        }
        savedAt = System.nanoTime();
    }

    /** Does the same once a second. */
    void renew() throws SQLException, JobLostException {
        if (System.nanoTime() - savedAt >= RENEW_NANOS) {
            save();
        }
    }

    /** Ends the job. */
    void end(ReplayJob.State state, @Nullable String error) throws SQLException, JobLostException {
        save();
        if (!writes.run(connection -> table.end(connection, job.number(), owner, state, error))) {
            throw new JobLostException(job.number());
        }
    }

    /** Another instance can go on at once. */
    void giveBack() throws SQLException, JobLostException {
        save();
        writes.run(connection -> {
            table.giveBack(connection, job.number(), owner);
            return true;
        });
    }
}
