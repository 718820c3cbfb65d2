package dev.twinbox.proof.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A Java program that is measured in a JVM of its own and says how long it took.
 *
 * @param name what messages and the log file call it
 * @param classPath its own, which need not be the benchmark's
 * @param mainClass prints its result with {@link #printResult}, or with a line that begins with {@value #RESULT_PREFIX}
 * @param jvmOptions e.g. {@code -Xmx2g}
 * @param environment what must not stand on the command line, where every user of the machine could read it
 * @param folder takes its output
 */
record JavaProgram(
        String name,
        String classPath,
        String mainClass,
        List<String> jvmOptions,
        Map<String, String> environment,
        Path folder) {

    static final String RESULT_PREFIX = "bench-nanos=";

    private static final String BEGUN_PREFIX = "bench-begun-millis=";

    /** Called by the program itself: prints the time from its first step to its last acknowledgement. */
    static void printResult(long nanos) {
        System.out.println(RESULT_PREFIX + nanos);
    }

    /** A program on the benchmark's own class path. */
    static JavaProgram ofThisClassPath(
            String name, Class<?> main, List<String> jvmOptions, Map<String, String> environment, Path folder) {
        return new JavaProgram(
                name, System.getProperty("java.class.path"), main.getName(), jvmOptions, environment, folder);
    }

    /** Called by the program itself, just before its first step. */
    static void printBegun() {
        System.out.println(BEGUN_PREFIX + System.currentTimeMillis());
    }

    /** Runs the program to its end and returns the time that it printed. */
    Timed run(Deadline deadline, String... arguments) throws IOException, InterruptedException {
        try (Running running = start(arguments)) {
            running.awaitExit(deadline);
            return new Timed(running.result(), running.begun());
        }
    }

    /** Starts the program. The caller closes it. */
    Running start(String... arguments) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(jvmOptions);
        command.addAll(List.of("-cp", classPath, mainClass));
        command.addAll(List.of(arguments));
        Path output = folder.resolve(name.replace(' ', '-') + ".log");
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
        builder.environment().putAll(environment);
        return new Running(name, builder.start(), output);
    }

    /** A running program and its output. */
    static final class Running implements AutoCloseable {
        private final String name;
        private final Process process;
        private final Path output;
        /** The program ends if the benchmark is interrupted. */
        private final Thread orphanHook;

        private Running(String name, Process process, Path output) {
            this.name = name;
            this.process = process;
            this.output = output;
            this.orphanHook = new Thread(process::destroyForcibly);
            Runtime.getRuntime().addShutdownHook(orphanHook);
        }

        boolean isAlive() {
            return process.isAlive();
        }

        void awaitExit(Deadline deadline) throws InterruptedException {
            Duration left = deadline.remaining(name);
            if (!process.waitFor(left.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new InvalidRunException(name + " did not end within " + left.toSeconds() + " s");
            }
        }

        /** @throws InvalidRunException if it printed no result; the message has its output */
        Duration result() {
            List<String> lines = lines();
            return lines.stream()
                    .filter(line -> line.startsWith(RESULT_PREFIX))
                    .map(line -> Duration.ofNanos(Long.parseLong(line.substring(RESULT_PREFIX.length()))))
                    .findFirst()
                    .orElseThrow(() -> new InvalidRunException(name + " ended with exit code " + process.exitValue()
                            + " and no result. It said:\n" + String.join("\n", lines)));
        }

        /** When the program called {@link #printBegun}; null if it did not. */
        @Nullable Instant begun() {
            return lines().stream()
                    .filter(line -> line.startsWith(BEGUN_PREFIX))
                    .map(line -> Instant.ofEpochMilli(Long.parseLong(line.substring(BEGUN_PREFIX.length()))))
                    .findFirst()
                    .orElse(null);
        }

        /** @throws InvalidRunException if it has ended; the message has its output */
        void requireAlive() {
            if (!process.isAlive()) {
                throw new InvalidRunException(name + " ended by itself with exit code " + process.exitValue()
                        + ". It said:\n" + String.join("\n", lines()));
            }
        }

        List<String> lines() {
            try {
                return Files.readAllLines(output);
            } catch (IOException e) {
                throw new UncheckedIOException("Cannot read the output of " + name, e);
            }
        }

        /** Kills the program if it still runs. */
        @Override
        public void close() {
            process.destroyForcibly();
            process.onExit().join();
            Runtime.getRuntime().removeShutdownHook(orphanHook);
        }
    }
}
