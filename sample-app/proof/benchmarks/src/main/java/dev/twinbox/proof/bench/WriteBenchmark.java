package dev.twinbox.proof.bench;

import dev.twinbox.fixtures.PayaraMicro;
import dev.twinbox.proof.bench.report.Console;
import dev.twinbox.proof.bench.report.Latencies;
import dev.twinbox.proof.bench.report.Plot;
import dev.twinbox.proof.bench.report.Report;
import dev.twinbox.proof.landscape.Installation;
import dev.twinbox.proof.landscape.Machine;
import jakarta.json.Json;
import jakarta.json.JsonObject;
import jakarta.json.JsonObjectBuilder;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * What an event costs its business transaction: the same transaction on Payara with {@code @Outbox}, with an INSERT
 * written by hand, and without an event. It is timed inside the server, commit included.
 */
final class WriteBenchmark implements Benchmark {

    private static final int ROUNDS = 5;
    private static final int CLIENTS = 4;
    private static final double REQUIRED_RATIO = 1.15;

    private static final Side OUTBOX = new Side("twinbox", "outbox", 1);
    private static final Side HAND_WRITTEN = new Side("insert by hand", "hand-written", 1);
    private static final Side PLAIN = new Side("no event", "plain", 0);
    private static final List<Side> SIDES = List.of(OUTBOX, HAND_WRITTEN, PLAIN);

    private static final String COUNT = """
            -- bench: count what was written
            select (select count(*) from stored_order), count(*), count(distinct id),
              count(*) filter (where topic = 'bench-write' and type = 'order.stored' and octet_length(payload) > 400)
            from outbox_event""";

    private final Installation files;
    private final int transactions;
    private final Deadline deadline;
    private final HttpClient http = HttpClient.newHttpClient();
    private final Map<Side, List<Latencies>> measured = new LinkedHashMap<>();

    /** @param path of the REST resource that runs it */
    private record Side(String label, String path, int eventsPerTransaction) {}

    /** @param rows transactions of each side in each round */
    WriteBenchmark(Installation files, int rows, Deadline deadline) {
        this.files = files;
        this.transactions = Math.max(1, rows / CLIENTS) * CLIENTS;
        this.deadline = deadline;
    }

    @Override
    public Report run() throws SQLException, IOException, InterruptedException {
        try (BenchServers servers = BenchServers.start(files, deadline)) {
            ReceiveStage.migrate(servers);
            // The consumers of the application belong to other benchmarks.
            for (ReceiveSide side : ReceiveSide.ALL) {
                servers.topics().create(side.topic(), 1);
            }
            double load = Machine.load();
            try (PayaraMicro server = server(servers)) {
                for (Side side : SIDES) {
                    Console.say("warming up: " + side.label);
                    measure(servers, server, side);
                }
                for (int round = 1; round <= ROUNDS; round++) {
                    for (Side side : SIDES) {
                        Latencies latencies = measure(servers, server, side);
                        runsOf(side).add(latencies);
                        Console.say(
                                latencies.line(side.label + ", run " + round).trim());
                    }
                }
                server.terminate();
            }
            return report(servers, load);
        }
    }

    private PayaraMicro server(BenchServers servers) {
        return ReceiveStage.server(
                servers, servers.postgres().jdbcUrl(BenchServers.DATABASE), Map.of("twinbox.inbox.batch.size", "500"));
    }

    private Latencies measure(BenchServers servers, PayaraMicro server, Side side)
            throws SQLException, InterruptedException {
        servers.execute("truncate stored_order, outbox_event");
        servers.execute("vacuum buyer");
        servers.execute("checkpoint");
        List<CompletableFuture<HttpResponse<String>>> clients = new ArrayList<>();
        for (int client = 0; client < CLIENTS; client++) {
            URI uri = server.uri("/bench/api/write/" + side.path + "?transactions=" + transactions / CLIENTS
                    + "&client=" + client + "&clients=" + CLIENTS);
            clients.add(http.sendAsync(
                    HttpRequest.newBuilder(uri)
                            .POST(HttpRequest.BodyPublishers.noBody())
                            .build(),
                    HttpResponse.BodyHandlers.ofString()));
        }
        Latencies latencies = new Latencies();
        for (CompletableFuture<HttpResponse<String>> client : clients) {
            body(client, side, server).lines().mapToLong(Long::parseLong).forEach(latencies::add);
        }
        requireWritten(servers, side);
        return latencies;
    }

    private String body(CompletableFuture<HttpResponse<String>> client, Side side, PayaraMicro server)
            throws InterruptedException {
        try {
            HttpResponse<String> response =
                    client.get(deadline.remaining(side.label).toMillis(), TimeUnit.MILLISECONDS);
            if (response.statusCode() != 200) {
                throw new InvalidRunException(
                        side.label + " answered " + response.statusCode() + ". The server's log: " + server.logFile());
            }
            return response.body();
        } catch (ExecutionException | TimeoutException e) {
            throw new InvalidRunException(side.label + " did not answer. The server's log: " + server.logFile(), e);
        }
    }

    private void requireWritten(BenchServers servers, Side side) throws SQLException {
        try (Connection connection = servers.connect();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(COUNT)) {
            row.next();
            long events = (long) transactions * side.eventsPerTransaction;
            if (row.getLong(1) != transactions
                    || row.getLong(2) != events
                    || row.getLong(3) != events
                    || row.getLong(4) != events) {
                throw new InvalidRunException(String.format(
                        "%s: %d transactions left %d orders and %d events, %d of them distinct, %d as they should be",
                        side.label, transactions, row.getLong(1), row.getLong(2), row.getLong(3), row.getLong(4)));
            }
        }
    }

    private List<Latencies> runsOf(Side side) {
        return measured.computeIfAbsent(side, each -> new ArrayList<>());
    }

    private double median(Side side) {
        List<Double> medians = runsOf(side).stream()
                .map(latencies -> latencies.millis(50))
                .sorted()
                .toList();
        return medians.get((medians.size() - 1) / 2);
    }

    private Report report(BenchServers servers, double load) throws SQLException {
        double ratio = median(OUTBOX) / median(HAND_WRITTEN);
        JsonObjectBuilder runs = Json.createObjectBuilder();
        StringBuilder table = new StringBuilder();
        Map<String, Double> bars = new LinkedHashMap<>();
        measured.forEach((side, rounds) -> {
            var array = Json.createArrayBuilder();
            for (int i = 0; i < rounds.size(); i++) {
                array.add(rounds.get(i).json());
                table.append(rounds.get(i).line(side.label + ", run " + (i + 1)));
            }
            runs.add(side.path, array);
            bars.put(side.label, median(side));
        });
        table.append(String.format(
                Locale.ROOT,
                "medians: twinbox %.3f ms, by hand %.3f ms, no event %.3f ms%n",
                median(OUTBOX),
                median(HAND_WRITTEN),
                median(PLAIN)));
        return new Report(
                "write",
                figures(servers, runs, load),
                table.toString(),
                Plot.bars("A business transaction, medians of " + ROUNDS + " runs", "milliseconds", bars),
                List.of(Report.Requirement.atMost("twinbox / by hand", ratio, REQUIRED_RATIO)));
    }

    private JsonObject figures(BenchServers servers, JsonObjectBuilder runs, double load) throws SQLException {
        return Json.createObjectBuilder()
                .add("outbox_ms", median(OUTBOX))
                .add("hand_written_ms", median(HAND_WRITTEN))
                .add("plain_ms", median(PLAIN))
                .add("ratio", Report.rounded(median(OUTBOX) / median(HAND_WRITTEN)))
                .add("ratio_required", REQUIRED_RATIO)
                .add("plain_ratio", Report.rounded(median(OUTBOX) / median(PLAIN)))
                .add("runs", runs)
                .add("transactions", transactions)
                .add("clients", CLIENTS)
                .add("jvm_options", ReceiveStage.JVM_OPTIONS)
                .add("postgresql", servers.postgresJson())
                .add("load_before", load)
                .build();
    }
}
