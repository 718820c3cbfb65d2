package dev.twinbox.proof.endtoend;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/** One bash for commands that follow each other: variables, functions, the folder and what runs in the background stay. */
final class Terminal implements AutoCloseable {

    /** Printed behind what the commands print, with their exit code and the folder in which they leave the shell. */
    private static final String END = "---end-of-commands---";

    private static final Duration GRACE = Duration.ofSeconds(30);

    private final Path home;
    private final Process bash;
    /** Kills the process group when its input ends: on {@link #close()}, or because this JVM was killed. */
    private final Process guard;

    private final Writer input;
    private final BlockingQueue<String> printed = new LinkedBlockingQueue<>();

    /**
     * Opens a terminal.
     *
     * @param home an empty folder, where the shell begins
     * @param environment variables beside those of this JVM
     */
    Terminal(Path home, Map<String, String> environment) throws IOException {
        this.home = home;
        // A process group of its own: what the shell starts belongs to it, also in the background.
        ProcessBuilder builder = new ProcessBuilder("setsid", "bash", "--noprofile", "--norc")
                .directory(home.toFile())
                .redirectErrorStream(true);
        builder.environment().putAll(environment);
        builder.environment().put("HOME", home.toString());
        bash = builder.start();
        input = bash.outputWriter(StandardCharsets.UTF_8);
        Thread reader = new Thread(this::read, "terminal");
        reader.setDaemon(true);
        reader.start();
        guard = new ProcessBuilder("bash", "-c", "cat; kill -9 -- -" + bash.pid())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    private void read() {
        try (BufferedReader reader = bash.inputReader(StandardCharsets.UTF_8)) {
            reader.lines().forEach(printed::add);
        } catch (IOException | UncheckedIOException e) {
            printed.add("[the terminal is closed: " + e.getMessage() + "]");
        }
    }

    /**
     * What commands did.
     *
     * @param output all that they printed, without the last line's end
     * @param exitCode of the last command
     * @param folder the current folder after them
     */
    record Result(String output, int exitCode, Path folder) {}

    /**
     * Runs commands to their end; what they leave in the background goes on.
     *
     * @throws IllegalStateException if they take longer than that
     */
    Result run(String commands, Duration limit) throws IOException, InterruptedException {
        Path script = Files.writeString(home.resolve("commands.sh"), commands + "\n");
        type("source '" + script + "' < /dev/null; printf '\\n%s %s %s\\n' " + END + " \"$?\" \"$PWD\"");
        List<String> lines = new ArrayList<>();
        long deadline = System.nanoTime() + limit.toNanos();
        while (true) {
            String line = printed.poll(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
            if (line == null) {
                throw new IllegalStateException("No end within " + limit + " of:\n" + commands
                        + "\nPrinted until then:\n" + String.join("\n", lines));
            }
            if (line.startsWith(END)) {
                String[] end = line.split(" ", 3);
                return new Result(String.join("\n", lines).stripTrailing(), Integer.parseInt(end[1]), Path.of(end[2]));
            }
            lines.add(line);
        }
    }

    private void type(String line) throws IOException {
        input.write(line + "\n");
        input.flush();
    }

    /** Ends the shell and all that it has started: politely, then by force. */
    @Override
    public void close() throws IOException {
        List<ProcessHandle> all =
                Stream.concat(bash.descendants(), Stream.of(bash.toHandle())).toList();
        all.forEach(ProcessHandle::destroy);
        CompletableFuture<?> gone =
                CompletableFuture.allOf(all.stream().map(ProcessHandle::onExit).toArray(CompletableFuture<?>[]::new));
        try {
            gone.get(GRACE.toSeconds(), TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            all.forEach(ProcessHandle::destroyForcibly);
            gone.join();
        } catch (ExecutionException e) {
            throw new IllegalStateException("Cannot wait for the end of what the terminal has started", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            guard.outputWriter().close();
        }
    }
}
