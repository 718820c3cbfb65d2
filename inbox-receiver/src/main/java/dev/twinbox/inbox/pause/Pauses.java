package dev.twinbox.inbox.pause;

import dev.twinbox.inbox.event.ErrorText;
import dev.twinbox.inbox.jdbc.Paused;
import dev.twinbox.inbox.jdbc.PausedTable.Kind;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Map;
import java.util.SortedMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The topics and handlers that an operator has paused in the application's group. One thread reads them from their table.
 * All threads look at what was read, without the database. While the table cannot be read, what was read last holds.
 */
public final class Pauses {

    private static final Logger LOG = System.getLogger(Pauses.class.getName());

    private static final String UNREADABLE = "paused topics and handlers";

    /** Reads what is paused, in a transaction of its own. */
    @FunctionalInterface
    public interface Source {
        Paused read() throws SQLException;
    }

    /** What an operator should know although the receiver works. */
    @FunctionalInterface
    public interface Notes {
        /**
         * Sets the note about a subject, or takes it away.
         *
         * @param text null: no longer
         */
        void set(String subject, @Nullable String text);
    }

    private final Source source;
    private final Notes notes;

    /** Written under the lock of this object, read by all threads. Null: not read yet. */
    private volatile @Nullable Paused read;

    private volatile Runnable listener = () -> {};
    private boolean isUnreadable; // guarded by this

    /** Held while the table is read, so that an older answer never replaces a newer one. */
    private final ReentrantLock reading = new ReentrantLock();

    /** Nothing is read yet. */
    public Pauses(Source source, Notes notes) {
        this.source = source;
        this.notes = notes;
    }

    /** Calls this after each change, on the thread that has read it. */
    public void listen(Runnable newListener) {
        listener = newListener;
    }

    /** Reads for the first time. Nothing may be handled before. Does nothing if that was done. */
    public void begin() throws SQLException {
        if (read == null) {
            readNow();
        }
    }

    /** Reads again. If that fails, what was read last holds, and a note says so. */
    public void refresh() {
        try {
            readNow();
        } catch (SQLException | RuntimeException e) {
            failed(ErrorText.of(e));
        }
    }

    private void readNow() throws SQLException {
        reading.lock();
        try {
            if (change(source.read())) {
                listener.run();
            }
        } finally {
            reading.unlock();
        }
    }

    /** What is paused, as last read. It is the same object as long as nothing changes. */
    public Paused current() {
        Paused last = read;
        return last == null ? Paused.NOTHING : last;
    }

    /** Whether no handler is called for events of the topic. */
    public boolean isTopicPaused(String topic) {
        return current().topics().containsKey(topic);
    }

    /** Whether the handler is called for no event. */
    public boolean isHandlerPaused(String handler) {
        return current().handlers().containsKey(handler);
    }

    /** Why an event of the handler is parked, for the operator; null: the handler is not paused. */
    public @Nullable String cause(String handler) {
        return isHandlerPaused(handler) ? "paused: an operator has paused handler " + handler : null;
    }

    /** Returns whether it is new. */
    private synchronized boolean change(Paused now) {
        if (isUnreadable) {
            isUnreadable = false;
            notes.set(UNREADABLE, null);
            LOG.log(Level.INFO, "Paused topics and handlers can be read again");
        }
        if (now.equals(read)) {
            return false;
        }
        Paused before = current();
        read = now;
        compare(Kind.TOPIC, before.topics(), now.topics());
        compare(Kind.HANDLER, before.handlers(), now.handlers());
        return true;
    }

    private void compare(Kind kind, SortedMap<String, Instant> before, SortedMap<String, Instant> now) {
        for (Map.Entry<String, Instant> each : now.entrySet()) {
            if (!each.getValue().equals(before.get(each.getKey()))) {
                String text = text(kind, each.getKey(), each.getValue());
                notes.set(subject(kind, each.getKey()), text);
                LOG.log(Level.INFO, "The {0} {1} {2}", kind.text(), each.getKey(), text);
            }
        }
        for (String name : before.keySet()) {
            if (!now.containsKey(name)) {
                notes.set(subject(kind, name), null);
                LOG.log(Level.INFO, "The {0} {1} is resumed by an operator", kind.text(), name);
            }
        }
    }

    private static String subject(Kind kind, String name) {
        return "pause of " + kind.text() + " " + name;
    }

    private static String text(Kind kind, String name, Instant since) {
        return "is paused by an operator since " + since
                + (kind == Kind.TOPIC ? ": its partitions are held" : ": its events are parked in order")
                + " until \"twinbox-inbox-cli.jar resume --" + kind.text() + " " + name + "\"";
    }

    private synchronized void failed(String text) {
        Paused last = current();
        notes.set(
                UNREADABLE,
                "cannot be read, so what was read last holds: topics "
                        + last.topics().keySet() + ", handlers "
                        + last.handlers().keySet() + ". Cause: " + text);
        if (!isUnreadable) {
            isUnreadable = true;
            LOG.log(
                    Level.WARNING,
                    "Paused topics and handlers cannot be read, so what was read last holds: {0}. The receiver tries "
                            + "again",
                    text);
        }
    }
}
