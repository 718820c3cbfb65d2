package dev.twinbox.proof.soak;

import jakarta.json.Json;
import jakarta.json.JsonObjectBuilder;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;

/** The log of a run: JSON lines in a file, and the same as text on the terminal. Any thread writes. */
final class FaultLog implements AutoCloseable {

    private final Path file;
    private final BufferedWriter lines;
    private final Map<Fault.Kind, Integer> counts = new EnumMap<>(Fault.Kind.class);
    private volatile long begunAt = System.nanoTime();

    FaultLog(Path file) {
        this.file = file;
        try {
            Files.createDirectories(file.toAbsolutePath().getParent());
            lines = Files.newBufferedWriter(file);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot write " + file, e);
        }
    }

    /** Starts the clock of the run. */
    void begin() {
        begunAt = System.nanoTime();
    }

    /** Time since {@link #begin()}. */
    Duration elapsed() {
        return Duration.ofNanos(System.nanoTime() - begunAt);
    }

    /**
     * Logs a fault that is over.
     *
     * @param begun when it began
     * @param ended when the process was started or resumed, or the connection restored
     * @param back when the target worked again
     */
    synchronized void fault(Fault fault, Duration begun, Duration ended, Duration back) {
        counts.merge(fault.kind(), 1, Integer::sum);
        write(
                "fault",
                Json.createObjectBuilder()
                        .add("number", fault.number())
                        .add("kind", fault.kind().name())
                        .add("target", fault.target().name())
                        .add("planned_at_ms", fault.at().toMillis())
                        .add("planned_length_ms", fault.length().toMillis())
                        .add("begun_ms", begun.toMillis())
                        .add("ended_ms", ended.toMillis())
                        .add("back_ms", back.toMillis()));
        say(String.format(
                Locale.ROOT,
                "%s %s for %.1f s, back %.1f s later",
                fault.kind(),
                fault.target(),
                ended.minus(begun).toMillis() / 1000.0,
                back.minus(ended).toMillis() / 1000.0));
    }

    /** Logs anything else. */
    synchronized void write(String what, JsonObjectBuilder content) {
        try {
            lines.write(Json.createObjectBuilder()
                    .add("what", what)
                    .add("at_ms", elapsed().toMillis())
                    .addAll(content)
                    .build()
                    .toString());
            lines.newLine();
            lines.flush();
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot write " + file, e);
        }
    }

    /** Prints a line on the terminal. */
    synchronized void say(String line) {
        System.out.printf(Locale.ROOT, "[%6.1f s] %s%n", elapsed().toMillis() / 1000.0, line);
    }

    /** How many faults of each kind there have been. */
    synchronized Map<Fault.Kind, Integer> counts() {
        return new EnumMap<>(counts);
    }

    Path file() {
        return file;
    }

    @Override
    public synchronized void close() {
        try {
            lines.close();
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot write " + file, e);
        }
    }
}
