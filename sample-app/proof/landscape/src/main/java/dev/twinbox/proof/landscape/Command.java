package dev.twinbox.proof.landscape;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** One command of an executable jar, run to its end. */
final class Command {

    /** A command takes seconds, on a busy machine a minute. */
    private static final Duration LIMIT = Duration.ofMinutes(4);

    private Command() {}

    /**
     * Runs {@code java -jar jar arguments…}.
     *
     * @param environment configuration, by its environment names; every user of the machine could read a password on
     *     the
     *     command line
     * @throws IllegalStateException if it exits with anything but 0, or not in time; the message holds its output
     */
    static void run(Path jar, Map<String, String> environment, String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-jar",
                jar.toString()));
        command.addAll(List.of(arguments));
        try {
            Path output = Files.createTempFile("twinbox-command", ".log");
            try {
                run(command, environment, output);
            } finally {
                Files.delete(output);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot run " + command, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while running " + command, e);
        }
    }

    private static void run(List<String> command, Map<String, String> environment, Path output)
            throws IOException, InterruptedException {
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
        builder.environment().putAll(environment);
        Process process = builder.start();
        String end;
        try {
            process.getOutputStream().close();
            if (process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
                if (process.exitValue() == 0) {
                    return;
                }
                end = "ended with exit code " + process.exitValue();
            } else {
                end = "did not end within " + LIMIT;
            }
        } finally {
            process.destroyForcibly();
        }
        throw new IllegalStateException(
                "`" + String.join(" ", command) + "` " + end + ":\n" + Files.readString(output));
    }
}
