package dev.twinbox.relay.log;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.filter.Filter;
import ch.qos.logback.core.spi.FilterReply;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.slf4j.event.KeyValuePair;

/**
 * Keeps an outage from flooding the log: warnings, and whatever libraries say, share one line per second. Lines of the relay
 * itself at other levels (start, stop, recovery, a person must act) always pass, and take their second. Behind a
 * library's line the relay may say at once what it makes of the same failure, and takes the next second for it: what is said
 * once, by the client's line before it, must not be lost. What is held back is counted, and the next line tells.
 */
final class OutageFilter extends Filter<ILoggingEvent> {
    /** Key under which a line carries the number of lines held back before it. */
    static final String SUPPRESSED = "suppressed";

    private static final String OURS = "dev.twinbox.";
    private static final long LINE = Duration.ofSeconds(1).toNanos();

    /** The Kafka client repeats itself many times a second: our own account of the outage must find its turn. */
    private static final long LIBRARY_LINE = Duration.ofSeconds(10).toNanos();

    private final LongSupplier nanoTime;
    private long nextLine; // at most two seconds ahead: of the line just written, and of one written in advance
    private long lastLibraryLine;
    private boolean lastWasOfLibrary;
    private long suppressed;

    /** @param nanoTime monotonic, {@code System::nanoTime} outside of tests */
    OutageFilter(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        this.nextLine = nanoTime.getAsLong();
        this.lastLibraryLine = nanoTime.getAsLong() - LIBRARY_LINE;
    }

    @Override
    public synchronized FilterReply decide(ILoggingEvent event) {
        long now = nanoTime.getAsLong();
        boolean ours = event.getLoggerName().startsWith(OURS);
        if (!isUrgent(event, ours) && !isDue(now, ours)) {
            suppressed++;
            return FilterReply.DENY;
        }
        nextLine = now + (now - nextLine < 0 ? 2 * LINE : LINE);
        lastWasOfLibrary = !ours;
        if (!ours) {
            lastLibraryLine = now;
        }
        if (suppressed > 0 && event instanceof LoggingEvent line) {
            line.addKeyValuePair(new KeyValuePair(SUPPRESSED, suppressed));
            suppressed = 0;
        }
        return FilterReply.NEUTRAL;
    }

    private static boolean isUrgent(ILoggingEvent event, boolean ours) {
        return ours && !event.getLevel().equals(Level.WARN);
    }

    private boolean isDue(long now, boolean ours) {
        if (ours) {
            return now - nextLine >= (lastWasOfLibrary ? -LINE : 0);
        }
        return now - nextLine >= 0 && now - lastLibraryLine >= LIBRARY_LINE;
    }
}
