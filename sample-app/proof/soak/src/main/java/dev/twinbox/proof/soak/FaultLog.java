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

/** What was done to whom and when, and what the books said: JSON lines in a file, the same in words on the terminal. Any thread writes. */
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

    /** From now on the faults' times count. */
    void begin() {
        begunAt = System.nanoTime();
    }

    /** Since {@link #begin()}. */
    Duration elapsed() {
        return Duration.ofNanos(System.nanoTime() - begunAt);
    }

    /**
     * A fault that is over.
     *
     * @param begun when it began
     * @param ended when the process was started or let go, the connection healed
     * @param back when the target was of use again
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

    /** One line about anything else. */
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

    /** A line for the terminal. */
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
