package dev.twinbox.sample.demo;

import java.io.PrintStream;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/** Events of the run, for the page and the terminal. Any thread writes. */
final class Journal {

    private static final int KEPT = 200;
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss");

    private final PrintStream terminal;
    private final Deque<Entry> entries = new ArrayDeque<>();
    private long written;

    Journal(PrintStream terminal) {
        this.terminal = terminal;
    }

    synchronized void write(String text) {
        Entry entry = new Entry(++written, LocalTime.now(ZoneId.systemDefault()).format(TIME), text);
        entries.addLast(entry);
        if (entries.size() > KEPT) {
            entries.removeFirst();
        }
        terminal.println(entry.time() + "  " + text);
    }

    /** The latest entries, oldest first. */
    synchronized List<Entry> entries() {
        return List.copyOf(entries);
    }

    /**
     * One line.
     *
     * @param number counts up from 1; the page uses it to see which lines are new
     */
    public record Entry(long number, String time, String text) {}
}
