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
 * Keeps an outage from flooding the log. Warnings of the relay and all lines of libraries share one line per second.
 * The relay's lines at other levels (start, stop, recovery, an operator must act) always pass, and use up their second.
 *
 * <p>Directly after a library's line, the relay may log one warning at once, and uses up the next second for it. So its
 * own account of a failure is not lost after the client's line. Suppressed lines are counted, and the next line reports
 * their number.
 */
final class OutageFilter extends Filter<ILoggingEvent> {
    /** Key under which a line carries the number of lines suppressed before it. */
    static final String SUPPRESSED = "suppressed";

    private static final String RELAY_LOGGERS = "dev.twinbox.";
    private static final long LINE = Duration.ofSeconds(1).toNanos();

    /**
     * The Kafka client repeats itself many times a second, and the relay's own account must not be suppressed by it.
     */
    private static final long LIBRARY_LINE = Duration.ofSeconds(10).toNanos();

    private enum Source {
        RELAY,
        LIBRARY;

        static Source of(ILoggingEvent event) {
            return event.getLoggerName().startsWith(RELAY_LOGGERS) ? RELAY : LIBRARY;
        }
    }

    private final LongSupplier nanoTime;
    // at most two seconds ahead: one for the line just written, one for a line written in advance
    private long nextLine;
    private long lastLibraryLine;
    private Source lastSource = Source.RELAY;
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
        Source source = Source.of(event);
        if (!isUrgent(event, source) && !isDue(now, source)) {
            suppressed++;
            return FilterReply.DENY;
        }
        nextLine = now + (now - nextLine < 0 ? 2 * LINE : LINE);
        lastSource = source;
        if (source == Source.LIBRARY) {
            lastLibraryLine = now;
        }
        if (suppressed > 0 && event instanceof LoggingEvent line) {
            line.addKeyValuePair(new KeyValuePair(SUPPRESSED, suppressed));
            suppressed = 0;
        }
        return FilterReply.NEUTRAL;
    }

    private static boolean isUrgent(ILoggingEvent event, Source source) {
        return source == Source.RELAY && !event.getLevel().equals(Level.WARN);
    }

    private boolean isDue(long now, Source source) {
        if (source == Source.RELAY) {
            return now - nextLine >= (lastSource == Source.LIBRARY ? -LINE : 0);
        }
        return now - nextLine >= 0 && now - lastLibraryLine >= LIBRARY_LINE;
    }
}
