package dev.twinbox.lock;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** What a class logs from its opening on. */
final class LogLines implements AutoCloseable {

    private final Logger logger;
    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final Handler handler = new Handler() {
        @Override
        public void publish(LogRecord entry) {
            lines.add(entry.getLevel() + " " + entry.getMessage());
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };

    LogLines(Class<?> source) {
        logger = Logger.getLogger(source.getName());
        logger.addHandler(handler);
    }

    /** Level and message of each line; it grows. */
    List<String> lines() {
        return lines;
    }

    @Override
    public void close() {
        logger.removeHandler(handler);
    }
}
