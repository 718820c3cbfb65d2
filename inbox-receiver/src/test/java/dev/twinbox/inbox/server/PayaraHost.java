package dev.twinbox.inbox.server;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarFile;

/**
 * A Payara Micro server in a child JVM. Applications can be deployed and undeployed while it runs. Its threads, MBeans
 * and class loaders can be inspected.
 */
public final class PayaraHost implements AutoCloseable {

    private static final Duration START_LIMIT = Duration.ofMinutes(3);
    private static final Duration ANSWER_LIMIT = Duration.ofMinutes(3);

    private final Process process;
    private final int port;
    private final PrintStream commands;
    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
    private final StringBuffer log = new StringBuffer();

    /** Starts a server. Returns when it accepts commands. */
    public PayaraHost(int port, String... jvmOptions) {
        this.port = port;
        try {
            process = new ProcessBuilder(command(port, jvmOptions))
                    .redirectErrorStream(true)
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
        commands = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
        Thread reader = new Thread(this::read, "payara-host-output");
        reader.setDaemon(true);
        reader.start();
        String answer = answer(START_LIMIT);
        if (!answer.equals("ready")) {
            throw new IllegalStateException("Payara did not start: " + answer);
        }
    }

    private static List<String> command(int port, String... jvmOptions) throws IOException {
        Path jar = Path.of(System.getProperty("payara.microJar"));
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx512m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Djava.io.tmpdir="
                        + Files.createDirectories(Path.of("target", "payara-tmp", Integer.toString(port))
                                .toAbsolutePath())));
        command.addAll(List.of(jvmOptions));
        command.addAll(opens(jar));
        // Only the host's own package: the applications contain their classes.
        command.addAll(List.of(
                "-cp",
                jar + ":" + hostClasses(port),
                "dev.twinbox.inbox.server.PayaraHostMain",
                Integer.toString(port)));
        return command;
    }

    /** The options that {@code java -jar} would read from the manifest. */
    private static List<String> opens(Path jar) throws IOException {
        try (JarFile file = new JarFile(jar.toFile())) {
            Attributes manifest = file.getManifest().getMainAttributes();
            List<String> options = new ArrayList<>();
            for (String kind : List.of("Add-Opens", "Add-Exports")) {
                for (String name : manifest.getValue(kind).split(" ")) {
                    options.add("--" + kind.toLowerCase(java.util.Locale.ROOT) + "=" + name + "=ALL-UNNAMED");
                }
            }
            return options;
        }
    }

    private static Path hostClasses(int port) throws IOException {
        Path folder = Files.createDirectories(
                Path.of("target", "payara-host", Integer.toString(port)).toAbsolutePath());
        String name = PayaraHostMain.class.getName().replace('.', '/') + ".class";
        Path file = folder.resolve(name);
        Files.createDirectories(file.getParent());
        try (var in = PayaraHost.class.getClassLoader().getResourceAsStream(name)) {
            Files.copy(in, file, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
        }
        return folder;
    }

    private void read() {
        Path file = Path.of("target", "payara-host-" + port + ".log");
        try (BufferedReader in =
                        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
                PrintStream out = new PrintStream(Files.newOutputStream(file), true, StandardCharsets.UTF_8)) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                out.println(line);
                log.append(line).append('\n');
                if (line.startsWith("HOST ")) {
                    answers.add(line.substring("HOST ".length()));
                }
            }
        } catch (IOException e) {
            // the process is gone
        }
        answers.add("ended\n" + tail());
    }

    private String answer(Duration limit) {
        try {
            String answer = answers.poll(limit.toMillis(), TimeUnit.MILLISECONDS);
            if (answer == null) {
                throw new IllegalStateException("no answer within " + limit + "; log:\n" + tail());
            }
            return answer;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private String tail() {
        List<String> lines = log.toString().lines().toList();
        return String.join("\n", lines.subList(Math.max(0, lines.size() - 60), lines.size()));
    }

    /** Sends a command and returns the answer. */
    public synchronized String command(String... words) {
        commands.println(String.join("\t", words));
        String answer = answer(ANSWER_LIMIT);
        if (answer.startsWith("failed") || answer.startsWith("ended")) {
            throw new IllegalStateException(String.join(" ", words) + ": " + answer);
        }
        return answer;
    }

    /**
     * Deploys an application. Its success shows only in the application or in the log. Returns what was logged
     * meanwhile.
     */
    public String deploy(String name, Path war) {
        int from = log.length();
        command("deploy", name, war.toString());
        return log.substring(from);
    }

    /** Deploys an application that may kill the server. */
    public void deployWithoutAnswer(String name, Path war) {
        commands.println("deploy\t" + name + "\t" + war);
    }

    public String undeploy(String name) {
        int from = log.length();
        command("undeploy", name);
        return log.substring(from);
    }

    /** All that the server has printed. */
    public String log() {
        return log.toString();
    }

    public int port() {
        return port;
    }

    /** The body of a GET; the status code if there is none. */
    public String get(String path) {
        return response(path).body();
    }

    public int status(String path) {
        return response(path).statusCode();
    }

    private HttpResponse<String> response(String path) {
        return Requests.get(URI.create("http://127.0.0.1:" + port + path), process::isAlive);
    }

    /**
     * Sends SIGTERM and returns at once. {@link Process#destroy} would also close the server's input. The server would
     * then take this JVM for dead and halt instead of shutting down.
     */
    public void sendTerm() {
        process.toHandle().destroy();
    }

    /** SIGSTOP: connections stay open, but the server does not answer. */
    public void pause() {
        signal("STOP");
    }

    /** SIGCONT. */
    public void resume() {
        signal("CONT");
    }

    private void signal(String name) {
        try {
            new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                    .start()
                    .waitFor();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    /** Waits for the end. */
    public void awaitEnd(Duration limit) throws InterruptedException {
        if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new IllegalStateException("still runs after " + limit + ":\n" + tail());
        }
    }

    /** SIGKILL. */
    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
