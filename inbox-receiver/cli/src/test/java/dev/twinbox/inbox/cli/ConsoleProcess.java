package dev.twinbox.inbox.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.fixtures.ApiAttacks;
import dev.twinbox.fixtures.PostgresServer;
import jakarta.json.Json;
import jakarta.json.JsonObject;
import jakarta.json.JsonReader;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.StringReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The console as its users have it: the executable jar in a JVM of its own, with both tokens. */
final class ConsoleProcess implements AutoCloseable {
    private static final HttpClient CLIENT = HttpClient.newHttpClient();
    private static final String LISTENS = "The console listens on ";

    private final Process process;
    private final Path log;
    private final String address;

    private ConsoleProcess(Process process, Path log, String address) {
        this.process = process;
        this.log = log;
        this.address = address;
    }

    /** Starts one, and waits until it listens. */
    static ConsoleProcess start(
            PostgresServer postgres, String database, String user, Map<String, String> environment, String... options)
            throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-jar",
                System.getProperty("twinbox.it.cliJar"),
                "console",
                "--url",
                postgres.jdbcUrl(database),
                "--user",
                user));
        command.addAll(List.of(options));
        Path log = Files.createTempFile("console", ".log");
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(log.toFile());
        Map<String, String> variables = builder.environment();
        variables.put("TWINBOX_INBOX_DATABASE_PASSWORD", postgres.password());
        variables.put("TWINBOX_CONSOLE_PORT", "0");
        variables.put("TWINBOX_CONSOLE_OPERATOR_TOKEN", ApiAttacks.OPERATOR);
        variables.put("TWINBOX_CONSOLE_READER_TOKEN", ApiAttacks.READER);
        variables.putAll(environment);
        Process process = builder.start();
        BufferedReader output =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        String line = output.readLine();
        assertThat(line).as(Files.readString(log)).startsWith(LISTENS);
        return new ConsoleProcess(process, log, line.substring(LISTENS.length()).replace("/console/", ""));
    }

    boolean isAlive() {
        return process.isAlive();
    }

    String log() throws IOException {
        return Files.readString(log);
    }

    URI uri(String path) {
        return URI.create(address + path);
    }

    /** A file of the pages. */
    String page(String name) throws IOException, InterruptedException {
        HttpRequest request =
                HttpRequest.newBuilder(URI.create(address + "/console/" + name)).build();
        HttpResponse<String> response = CLIENT.send(request, HttpResponse.BodyHandlers.ofString());
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return response.body();
    }

    JsonObject get(String path, @Nullable String token, int status) throws IOException, InterruptedException {
        return answer(HttpRequest.newBuilder(URI.create(address + "/api/v1" + path)), token, status);
    }

    JsonObject post(String path, String body, @Nullable String token, int status)
            throws IOException, InterruptedException {
        return answer(
                HttpRequest.newBuilder(URI.create(address + "/api/v1" + path))
                        .header("Content-Type", "application/json")
                        .POST(HttpRequest.BodyPublishers.ofString(body)),
                token,
                status);
    }

    private static JsonObject answer(HttpRequest.Builder request, @Nullable String token, int status)
            throws IOException, InterruptedException {
        if (token != null) {
            request.header("Authorization", "Bearer " + token);
        }
        HttpResponse<String> response = CLIENT.send(request.build(), HttpResponse.BodyHandlers.ofString());
        assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
        assertThat(response.headers().firstValue("content-type"))
                .hasValue(status == 200 ? "application/json" : "application/problem+json");
        try (JsonReader reader = Json.createReader(new StringReader(response.body()))) {
            return reader.readObject();
        }
    }

    /** SIGTERM; returns the exit code. */
    int terminate() throws InterruptedException {
        process.destroy();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        return process.exitValue();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
