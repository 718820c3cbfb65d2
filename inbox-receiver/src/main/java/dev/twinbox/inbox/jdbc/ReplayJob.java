package dev.twinbox.inbox.jdbc;

import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A job that handles events of a topic again.
 *
 * @param group the application's consumer group; the job does not join it
 * @param topicId the topic that was there when the job was requested
 * @param key only records with this key; null: all
 * @param isAgain whether events are handled that the inbox knows
 * @param from as the operator wrote it
 * @param to as the operator wrote it
 * @param error why it has failed, or what an operator should know
 * @param requestedAt by the database's clock
 */
public record ReplayJob(
        long number,
        String group,
        String handler,
        String topic,
        UUID topicId,
        @Nullable String key,
        boolean isAgain,
        String from,
        String to,
        List<Partition> partitions,
        State state,
        Counts counts,
        @Nullable String error,
        Instant requestedAt,
        @Nullable Instant endedAt) {

    /** How far a job is. */
    public enum State {
        REQUESTED,
        RUNNING,
        FINISHED,
        FAILED,
        CANCELED;

        /** In the table, and for operators. */
        public String text() {
            return name().toLowerCase(Locale.ROOT);
        }

        static State of(String text) {
            return valueOf(text.toUpperCase(Locale.ROOT));
        }
    }

    /**
     * The part of one partition.
     *
     * @param from first offset
     * @param to end, itself not included
     * @param next first offset that is not settled
     */
    public record Partition(int number, long from, long to, long next) {

        /** The same part, further on. */
        public Partition at(long offset) {
            return new Partition(number, from, to, offset);
        }
    }

    /**
     * What became of the events of the handler. After a crash some that were handled count as skipped.
     *
     * @param skipped known or parked already
     * @param parked failed, or parked after one of their key that failed
     * @param unreadable records without id, or with headers that cannot be read
     * @param gone offsets that the topic's retention has removed
     */
    public record Counts(long handled, long skipped, long parked, long unreadable, long gone) {

        public static final Counts NONE = new Counts(0, 0, 0, 0, 0);

        public Counts plus(Counts more) {
            return new Counts(
                    handled + more.handled,
                    skipped + more.skipped,
                    parked + more.parked,
                    unreadable + more.unreadable,
                    gone + more.gone);
        }

        /** For logs and operators. */
        @Override
        public String toString() {
            return handled + " handled, " + skipped + " skipped, " + parked + " parked"
                    + (unreadable == 0 ? "" : ", " + unreadable + " unreadable")
                    + (gone == 0 ? "" : ", " + gone + " offsets gone by the topic's retention");
        }

        public static Counts ofUnreadable(long number) {
            return new Counts(0, 0, 0, number, 0);
        }

        public static Counts ofGone(long number) {
            return new Counts(0, 0, 0, 0, number);
        }
    }

    /** How many offsets it still has to look at. */
    public long left() {
        return partitions.stream().mapToLong(each -> each.to() - each.next()).sum();
    }

    /** How many offsets it has to look at in all. */
    public long offsets() {
        return partitions.stream().mapToLong(each -> each.to() - each.from()).sum();
    }
}
