package dev.twinbox.relay.log;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.encoder.Encoder;
import ch.qos.logback.core.encoder.LayoutWrappingEncoder;
import ch.qos.logback.core.joran.spi.ConsoleTarget;
import dev.twinbox.relay.config.LogFormat;
import dev.twinbox.relay.config.RelayConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.bridge.SLF4JBridgeHandler;

/**
 * The process's log: standard output, one line per event, few lines during outages. An operator who wants another log
 * names a file by {@code -Dlogback.configurationFile=…}. That file is then used unchanged.
 */
public final class Logging {
    public static final String OPERATORS_FILE = "logback.configurationFile";

    private Logging() {}

    /** Libraries log from WARN on, the relay from the configured level. */
    public static void configure(RelayConfig config) {
        configure(config.logLevel(), config.logFormat(), ConsoleTarget.SystemOut);
    }

    /** As {@link #configure(RelayConfig)}, on the error output: standard output holds what the command prints. */
    public static void configureOnErrorOutput(RelayConfig config) {
        configure(config.logLevel(), config.logFormat(), ConsoleTarget.SystemErr);
    }

    /** Used until the configuration is known. */
    public static void configure() {
        configure(org.slf4j.event.Level.INFO, LogFormat.TEXT, ConsoleTarget.SystemOut);
    }

    private static void configure(org.slf4j.event.Level level, LogFormat format, ConsoleTarget target) {
        // pgjdbc logs by java.util.logging.
        SLF4JBridgeHandler.removeHandlersForRootLogger();
        SLF4JBridgeHandler.install();
        if (System.getProperty(OPERATORS_FILE) != null) {
            return;
        }
        LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
        context.reset();
        context.getLogger(Logger.ROOT_LOGGER_NAME).setLevel(Level.WARN);
        // These two loggers quote a bad URL including its password. The relay's own message names the problem without
        // it.
        context.getLogger("org.postgresql.util.PGPropertyUtil").setLevel(Level.OFF);
        context.getLogger("org.postgresql.Driver").setLevel(Level.OFF);
        context.getLogger("dev.twinbox").setLevel(Level.convertAnSLF4JLevel(level));
        context.getLogger(Logger.ROOT_LOGGER_NAME).addAppender(console(context, format, target));
    }

    private static Encoder<ILoggingEvent> encoder(LoggerContext context, LogFormat format) {
        if (format == LogFormat.JSON) {
            return new LogObject();
        }
        LogLine layout = new LogLine();
        layout.setContext(context);
        layout.start();
        LayoutWrappingEncoder<ILoggingEvent> encoder = new LayoutWrappingEncoder<>();
        encoder.setLayout(layout);
        return encoder;
    }

    private static ConsoleAppender<ILoggingEvent> console(
            LoggerContext context, LogFormat format, ConsoleTarget target) {
        Encoder<ILoggingEvent> encoder = encoder(context, format);
        encoder.setContext(context);
        encoder.start();
        OutageFilter filter = new OutageFilter(System::nanoTime);
        filter.setContext(context);
        filter.start();
        ConsoleAppender<ILoggingEvent> appender = new ConsoleAppender<>();
        appender.setContext(context);
        appender.setEncoder(encoder);
        appender.setTarget(target.getName());
        appender.addFilter(filter);
        appender.start();
        return appender;
    }
}
