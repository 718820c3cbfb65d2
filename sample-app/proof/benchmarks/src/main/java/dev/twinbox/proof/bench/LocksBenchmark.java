package dev.twinbox.proof.bench;

import dev.twinbox.fixtures.PayaraMicro;
import dev.twinbox.fixtures.RedisServer;
import dev.twinbox.proof.bench.report.Console;
import dev.twinbox.proof.bench.report.Latencies;
import dev.twinbox.proof.bench.report.Plot;
import dev.twinbox.proof.bench.report.Report;
import dev.twinbox.proof.landscape.Installation;
import dev.twinbox.proof.landscape.Machine;
import jakarta.json.Json;
import jakarta.json.JsonObjectBuilder;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a lock costs with each provider: a small transaction without one, and with each means against a second one at the
 * same time.
 */
final class LocksBenchmark implements Benchmark {

    private static final int ROUNDS = 3;

    /** What is timed, by its name in the application; first what does not depend on the provider. */
    private static final Map<String, String> WITHOUT_PROVIDER = inOrder(
            "plain", "a transaction",
            "unique-key", "with a unique key",
            "inbox-row", "with an inbox row",
            "in-transaction", "with tryLockInTransaction",
            "queue", "with a task of a queue",
            "single-flight", "single flight, no transaction");

    private static final Map<String, String> WITH_PROVIDER = inOrder(
            "take", "tryLock and close",
            "fenced", "tryLock, fence, close",
            "refused", "tryLock, refused");

    private final Installation files;
    private final int times;
    private final Deadline deadline;
    private final HttpClient http = HttpClient.newHttpClient();
    private final Map<String, Latencies> measured = new LinkedHashMap<>();

    /** @param rows how often each is done in each round */
    LocksBenchmark(Installation files, int rows, Deadline deadline) {
        this.files = files;
        this.times = rows;
        this.deadline = deadline;
    }

    private static Map<String, String> inOrder(String... namesAndLabels) {
        Map<String, String> map = new LinkedHashMap<>();
        for (int i = 0; i < namesAndLabels.length; i += 2) {
            map.put(namesAndLabels[i], namesAndLabels[i + 1]);
        }
        return map;
    }

    @Override
    public Report run() throws SQLException, IOException, InterruptedException {
        try (BenchServers servers = BenchServers.start(files, deadline);
                RedisServer redis = RedisServer.create().start()) {
            ReceiveStage.migrate(servers);
            // The consumers of the application belong to other benchmarks.
            ReceiveStage.createTopics(servers);
            double load = Machine.load();
            Map<String, String> timed = new LinkedHashMap<>(WITHOUT_PROVIDER);
            WITH_PROVIDER.forEach((what, label) -> timed.put(what, "postgresql: " + label));
            measure(servers, Map.of(), timed);
            timed.clear();
            WITH_PROVIDER.forEach((what, label) -> timed.put(what, "redis: " + label));
            timed.put("naive", "redis alone, no fence");
            measure(servers, Map.of("twinbox.locks", "redis", "twinbox.locks.redis.url", redis.url()), timed);
            return report(servers, load);
        }
    }

    private void measure(BenchServers servers, Map<String, String> settings, Map<String, String> timed)
            throws IOException, InterruptedException {
        String url = servers.postgres().jdbcUrl(BenchServers.DATABASE);
        try (PayaraMicro server = ReceiveStage.server(servers, url, settings)) {
            // Round 0 is a warm-up.
            for (int round = 0; round <= ROUNDS; round++) {
                for (Map.Entry<String, String> each : timed.entrySet()) {
                    String label = each.getValue();
                    Latencies target =
                            round == 0 ? new Latencies() : measured.computeIfAbsent(label, name -> new Latencies());
                    ask(server, each.getKey()).forEach(target::add);
                    Console.say(target.line(label + ", round " + round).trim());
                }
            }
            server.terminate();
        }
    }

    private List<Long> ask(PayaraMicro server, String what) throws IOException, InterruptedException {
        URI uri = server.uri("/bench/api/lock/time/" + what + "?rounds=" + times);
        HttpRequest request = HttpRequest.newBuilder(uri)
                .timeout(deadline.remaining(what))
                .POST(HttpRequest.BodyPublishers.noBody())
                .build();
        HttpResponse<String> response = http.send(request, HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() != 200) {
            throw new InvalidRunException(
                    what + " answered " + response.statusCode() + ". The server's log: " + server.logFile());
        }
        return response.body().lines().map(Long::valueOf).toList();
    }

    private Report report(BenchServers servers, double load) throws SQLException {
        StringBuilder table = new StringBuilder();
        JsonObjectBuilder figures = Json.createObjectBuilder();
        Map<String, Double> bars = new LinkedHashMap<>();
        measured.forEach((label, latencies) -> {
            table.append(latencies.line(label));
            figures.add(label, latencies.json());
            bars.put(label, latencies.millis(50));
        });
        return new Report(
                "locks",
                figures.add("times", times)
                        .add("rounds", ROUNDS)
                        .add("jvm_options", ReceiveStage.JVM_OPTIONS)
                        .add("postgresql", servers.postgresJson())
                        .add("load_before", load)
                        .build(),
                table.toString(),
                Plot.bars("What a lock costs, medians", "milliseconds", bars),
                List.of());
    }
}
