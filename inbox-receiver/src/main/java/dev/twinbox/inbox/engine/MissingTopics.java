package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.kafka.GroupOffsets;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Set;

/**
 * Has the inbox database remember which topics do not exist when the group begins to wait for them. All records of such
 * a topic are new to the group, also if it starts at the end of topics that it has never read.
 *
 * <p>Used by the poll thread only.
 */
final class MissingTopics {

    private static final Logger LOG = System.getLogger(MissingTopics.class.getName());

    private static final Duration ASK_AGAIN = Duration.ofSeconds(1);

    private final Set<String> topics;
    private final BackgroundQueries inquiries;
    private final GroupOffsets memory;
    private boolean isDone;
    private boolean isAsking;
    private long askAt = System.nanoTime();

    MissingTopics(Set<String> topics, BackgroundQueries inquiries, GroupOffsets memory) {
        this.topics = Set.copyOf(topics);
        this.inquiries = inquiries;
        this.memory = memory;
    }

    /** Asks until there is an answer. What keeps it from coming is reported by others. */
    void runOnce() {
        if (isDone || isAsking || System.nanoTime() - askAt < 0) {
            return;
        }
        isAsking = true;
        inquiries.ask(() -> memory.noteMissing(topics), this::done, this::failed);
    }

    private void done(Set<String> missing) {
        isDone = true;
        LOG.log(Level.DEBUG, "Topics that do not exist yet: {0}", missing);
    }

    private void failed(Throwable cause) {
        isAsking = false;
        askAt = System.nanoTime() + ASK_AGAIN.toNanos();
        LOG.log(Level.DEBUG, "It is not known yet which topics do not exist", cause);
    }
}
