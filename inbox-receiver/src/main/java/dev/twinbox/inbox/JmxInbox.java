package dev.twinbox.inbox;

import dev.twinbox.inbox.engine.ReceiverStatus;
import dev.twinbox.inbox.engine.ReceiverStatus.Total;
import dev.twinbox.inbox.jdbc.ParkedTable;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/** {@link InboxMXBean} of one receiver. */
record JmxInbox(ReceiverStatus status) implements InboxMXBean {

    private static final long NOT_KNOWN = -1;

    @Override
    public boolean isReady() {
        return status.troubles().isEmpty();
    }

    @Override
    public boolean isLive() {
        return status.reasonsToRestart().isEmpty();
    }

    @Override
    public List<String> getTroubles() {
        return texts(status.troubles());
    }

    @Override
    public List<String> getNotes() {
        return texts(status.notes());
    }

    @Override
    public List<String> getReasonsToRestart() {
        return texts(status.reasonsToRestart());
    }

    private static List<String> texts(Map<String, String> bySubject) {
        return bySubject.entrySet().stream()
                .map(each -> each.getKey() + ": " + each.getValue())
                .toList();
    }

    @Override
    public long getEffects() {
        return status.sum(Total.EFFECTS);
    }

    @Override
    public long getDuplicates() {
        return status.sum(Total.DUPLICATES);
    }

    @Override
    public long getAlreadyDone() {
        return status.sum(Total.ALREADY_DONE);
    }

    @Override
    public long getFailures() {
        return status.sum(Total.FAILURES);
    }

    @Override
    public long getRetriedLater() {
        return status.sum(Total.RETRIED_LATER);
    }

    @Override
    public long getTimedOut() {
        return status.sum(Total.TIMED_OUT);
    }

    @Override
    public long getSkipped() {
        return status.sum(Total.SKIPPED);
    }

    @Override
    public long getDropped() {
        return status.sum(Total.DROPPED);
    }

    @Override
    public long getParked() {
        return status.sum(Total.PARKED);
    }

    @Override
    public long getExpired() {
        return status.sum(Total.EXPIRED);
    }

    @Override
    public long getParkedWaiting() {
        return counted(ParkedTable.Counts::waiting);
    }

    @Override
    public long getParkedDead() {
        return counted(ParkedTable.Counts::dead);
    }

    private long counted(ToLongFunction<ParkedTable.Counts> figure) {
        ParkedTable.Counts counts = status.parkedEventsIfKnown();
        return counts == null ? NOT_KNOWN : figure.applyAsLong(counts);
    }

    @Override
    public int getHungThreads() {
        return status.hungThreads();
    }

    @Override
    public int getOpenBreakers() {
        return status.openBreakers();
    }

    @Override
    public List<String> getPausedTopics() {
        return List.copyOf(status.paused().topics().keySet());
    }

    @Override
    public List<String> getPausedHandlers() {
        return List.copyOf(status.paused().handlers().keySet());
    }
}
