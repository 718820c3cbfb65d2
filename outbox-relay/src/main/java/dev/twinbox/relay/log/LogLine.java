package dev.twinbox.relay.log;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.LayoutBase;
import dev.twinbox.config.Secret;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.slf4j.event.KeyValuePair;

/**
 * One event, one line: time in UTC, level, the logger's last name, the message. Only an error of our own that nobody foresaw
 * brings its stack trace; a library's exception is told in its line.
 */
final class LogLine extends LayoutBase<ILoggingEvent> {

    @Override
    public String doLayout(ILoggingEvent event) {
        String logger = event.getLoggerName();
        StringBuilder line = new StringBuilder(160)
                .append(Instant.ofEpochMilli(event.getTimeStamp()).truncatedTo(ChronoUnit.MILLIS))
                .append(' ')
                .append(event.getLevel())
                .append(' ')
                .append(logger.substring(logger.lastIndexOf('.') + 1))
                .append(": ")
                .append(message(event));
        appendSuppressed(line, event.getKeyValuePairs());
        appendThrowable(line, event);
        return line.append(System.lineSeparator()).toString();
    }

    /** Lists of what a person has to mend keep their lines; everything else may come often. */
    private static String message(ILoggingEvent event) {
        String text = event.getFormattedMessage();
        return isOurs(event) && event.getLevel() == Level.ERROR ? Secret.masked(text) : oneLine(text);
    }

    private static boolean isOurs(ILoggingEvent event) {
        return event.getLoggerName().startsWith("dev.twinbox.");
    }

    private static String oneLine(String text) {
        return Secret.masked(text).replaceAll("\\s*[\\r\\n]+\\s*", " | ");
    }

    private static void appendSuppressed(StringBuilder line, List<KeyValuePair> pairs) {
        if (pairs == null) {
            return;
        }
        for (KeyValuePair pair : pairs) {
            if (pair.key.equals(OutageFilter.SUPPRESSED)) {
                line.append(" (").append(pair.value).append(" lines like this held back)");
            }
        }
    }

    private static void appendThrowable(StringBuilder line, ILoggingEvent event) {
        IThrowableProxy thrown = event.getThrowableProxy();
        if (thrown == null) {
            return;
        }
        if (isOurs(event)) {
            line.append(System.lineSeparator()).append(ThrowableProxyUtil.asString(thrown));
        } else {
            line.append(": ").append(thrown.getClassName()).append(": ").append(oneLine("" + thrown.getMessage()));
        }
    }
}
