package dev.twinbox.relay.resend;

import dev.twinbox.TopicName;
import dev.twinbox.relay.jdbc.SentEvents;
import dev.twinbox.relay.kafka.Topic;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Which events may be sent again. */
public final class ResendRules {
    /** What stands for the oldest event that is left. */
    private static final String OLDEST = "oldest";

    private static final double SECONDS_PER_HOUR = 3_600;

    private ResendRules() {}

    /**
     * Reads a range.
     *
     * @param from a number, a time, or {@code oldest}
     * @param to a number or a time, itself not included; null: no limit
     * @throws IllegalArgumentException if something is wrong
     */
    public static SentEvents.Range range(
            @Nullable String from, @Nullable String to, @Nullable String topic, @Nullable String key) {
        if (from == null) {
            throw new IllegalArgumentException(
                    "\"from\" is missing: give the number of an event, a time such as 2026-11-29T12:00:00Z, or oldest");
        }
        boolean isOldest = from.equals(OLDEST);
        Long first = isOldest ? null : number(from);
        Long last = to == null ? null : number(to);
        SentEvents.Range range = new SentEvents.Range(
                first,
                last,
                isOldest || first != null ? null : time("from", from),
                to == null || last != null ? null : time("to", to),
                topic == null ? null : TopicName.check(topic),
                key);
        if (isEmpty(range)) {
            throw new IllegalArgumentException(
                    "\"from\" " + from + " is not before \"to\" " + to + ": give a later \"to\", itself not included");
        }
        return range;
    }

    private static boolean isEmpty(SentEvents.Range range) {
        Instant fromTime = range.fromTime();
        Instant toTime = range.toTime();
        return (range.from() != null && range.to() != null && range.from() >= range.to())
                || (fromTime != null && toTime != null && !fromTime.isBefore(toTime));
    }

    private static @Nullable Long number(String text) {
        return text.matches("\\d{1,18}") ? Long.valueOf(text) : null;
    }

    private static Instant time(String name, String text) {
        try {
            return OffsetDateTime.parse(text).toInstant();
        } catch (DateTimeException e) {
            throw new IllegalArgumentException(
                    '"' + name + "\" is \"" + text
                            + "\": it must be the number of an event, or a time such as 2026-11-29T12:00:00Z",
                    e);
        }
    }

    /**
     * Why the beginning of a range is not there any more; null if it is. Where the first event of all is left, nothing
     * was emptied.
     *
     * @param first null: the table is empty
     */
    static @Nullable String emptied(SentEvents.Range range, SentEvents.@Nullable First first) {
        if (first == null) {
            return "the event table is empty: what it had is sent, and cannot be sent again";
        }
        Instant time = first.time();
        Instant fromTime = range.fromTime();
        boolean isBefore = (range.from() != null && range.from() < first.seq())
                || (fromTime != null && time != null && fromTime.isBefore(time));
        if (first.seq() == 1 || !isBefore) {
            return null;
        }
        return "events of the range may have been emptied from the table: "
                + String.format(Locale.ROOT, "%.1f", first.age() / SECONDS_PER_HOUR)
                + " hours are there. The oldest event has number " + first.seq() + " and time " + time
                + ": begin there or later, or with \"oldest\"";
    }

    /**
     * Up to which number some events of a range were emptied from the table while older ones are left; 0: none. Slots are
     * not always emptied in the order of their numbers.
     */
    static long emptiedUpTo(SentEvents.Range range, SentEvents.First first) {
        Long from = range.from();
        return first.emptied() >= Math.max(first.seq(), from == null ? 0 : from) ? first.emptied() : 0;
    }

    /** Why a range of compacted topics may lack the newest event of a key; null if it has all. */
    static @Nullable String hole(SentEvents.Range range, SentEvents.First first) {
        long emptied = emptiedUpTo(range, first);
        return emptied == 0
                ? null
                : "some events up to number " + emptied
                        + " were emptied from the table, and a compacted topic would be "
                        + "left with an older one of its key: begin with number " + (emptied + 1);
    }

    /** Why a job cannot begin; null if it can. */
    static @Nullable String obstacle(ResendJob job, SentEvents.@Nullable First first) {
        String emptied = emptied(job.range(), first);
        return emptied != null || first == null || job.held().isEmpty() ? emptied : hole(job.range(), first);
    }

    /** Why a job cannot go on; null if it can. */
    static @Nullable String lost(ResendJob job, SentEvents.@Nullable First first) {
        boolean isLost = first == null
                || first.seq() > job.after() + 1
                || (!job.held().isEmpty() && first.emptied() > job.after());
        return isLost
                ? "events that were still to be sent again were emptied from the table, after number " + job.after()
                : null;
    }

    /**
     * Why a job that has sent all has failed nevertheless; null if it has not.
     *
     * @param more since the job was read
     * @param refusal the first one since then
     */
    static @Nullable String gap(ResendJob job, ResendJob.Sent more, @Nullable String refusal) {
        long refused = job.sent().refused() + more.refused();
        return job.held().isEmpty() || refused == 0
                ? null
                : refused
                        + " events were refused by Kafka, so a compacted topic may have an older event of a key last; "
                        + "the first one: " + (job.error() == null ? refusal : job.error());
    }

    /** Why a job may not send to a topic; null if it may. */
    static @Nullable String refusal(SentEvents.Range range, String name, Topic topic) {
        if (topic.obstacle() != null) {
            return topic.obstacle();
        }
        if (topic.needsKey() == Topic.Key.REQUIRED && range.fromTime() != null) {
            return "topic \"" + name + "\" is compacted: times are not in the order in which events were sent, so the "
                    + "newest event of a key could be left out. Give \"from\" as a number";
        }
        return topic.needsKey() == Topic.Key.OPTIONAL || range.isOpen()
                ? null
                : "topic \"" + name + "\" is compacted: an old event that is sent last would be kept as the value of "
                        + "its key. Leave out \"to\", then all later events of each key are sent again, too";
    }
}
