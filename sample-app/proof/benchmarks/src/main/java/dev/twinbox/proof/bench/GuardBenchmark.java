package dev.twinbox.proof.bench;

import dev.twinbox.fixtures.PayaraMicro;
import dev.twinbox.fixtures.RedisServer;
import dev.twinbox.proof.bench.report.Console;
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
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * When a guarded handler pays. Handlers take no time, 10 ms or a second. None, a tenth or half of the events are there
 * twice at once, in two partitions that two workers handle at the same time, as two instances would. There are more
 * partitions than workers, so a worker that waits for another one's claim keeps events waiting.
 */
final class GuardBenchmark implements Benchmark {

    private static final int KEYS = 10_000;
    private static final List<Integer> MILLIS = List.of(0, 10, 1_000);
    private static final List<Integer> PERCENT_TWICE = List.of(0, 10, 50);
    /** Events that are handled at the same time. */
    private static final int WORKERS = 4;

    /** Of the handlers of a run, if no event is there twice. */
    private static final Duration LONGEST_RUN = Duration.ofSeconds(10);

    private static final String BY_POSTGRESQL = "guard, postgresql";
    private static final String BY_REDIS = "guard, redis";

    private static final String APPLIED = """
            -- bench: count what was applied
            select count(*), count(distinct order_id) from applied_order""";

    private final Installation files;
    private final int events;
    private final Deadline deadline;
    private final HttpClient http = HttpClient.newHttpClient();
    private final Runs runs = new Runs();
    private long nextOrder = 1;

    /** @param rows events of a run whose handlers take no time */
    GuardBenchmark(Installation files, int rows, Deadline deadline) {
        this.files = files;
        this.events = rows;
        this.deadline = deadline;
    }

    @Override
    public Report run() throws SQLException, IOException, InterruptedException {
        try (ReceiveStage stage = ReceiveStage.start(files, deadline);
                RedisServer redis = RedisServer.create().start()) {
            double load = Machine.load();
            Map<String, String> settings = new HashMap<>(Map.of("twinbox.inbox.workers", Integer.toString(WORKERS)));
            try (PayaraMicro server = stage.server(settings)) {
                measureAll(stage, server, ReceiveSide.UNGUARDED, ReceiveSide.UNGUARDED.label());
                measureAll(stage, server, ReceiveSide.GUARDED, BY_POSTGRESQL);
                server.terminate();
            }
            settings.put("twinbox.locks", "redis");
            settings.put("twinbox.locks.redis.url", redis.url());
            try (PayaraMicro server = stage.server(settings)) {
                measureAll(stage, server, ReceiveSide.GUARDED, BY_REDIS);
                server.terminate();
            }
            return report(stage, load);
        }
    }

    private void measureAll(ReceiveStage stage, PayaraMicro server, ReceiveSide side, String label)
            throws SQLException, IOException, InterruptedException {
        setLength(server, 0);
        Console.say("warming up: " + label);
        deliver(stage, server, side, 50, events);
        for (int millis : MILLIS) {
            setLength(server, millis);
            for (int percent : PERCENT_TWICE) {
                int number = number(millis);
                ReceiveStage.Effort effort = deliver(stage, server, side, percent, number);
                runs.add(name(label, millis, percent), 1, number, effort.time(), effort.spent());
            }
        }
    }

    /** Fewer if the handlers are slow, so that a run stays short. */
    private int number(int millis) {
        return millis == 0 ? events : (int) Math.min(events, LONGEST_RUN.toMillis() * WORKERS / millis);
    }

    private static String name(String label, int millis, int percent) {
        return label + ", " + millis + " ms, " + percent + " % twice";
    }

    private ReceiveStage.Effort deliver(
            ReceiveStage stage, PayaraMicro server, ReceiveSide side, int percent, int number) throws SQLException {
        stage.servers().execute("truncate applied_order, inbox_event");
        Workload workload = new Workload(number, KEYS, nextOrder);
        nextOrder += number;
        ReceiveStage.Effort effort = stage.deliverTwice(server, side, workload, percent);
        requireEachOnce(stage, number);
        return effort;
    }

    private static void requireEachOnce(ReceiveStage stage, int number) throws SQLException {
        try (Connection connection = stage.servers().connect();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(APPLIED)) {
            row.next();
            if (row.getLong(1) != number || row.getLong(2) != number) {
                throw new InvalidRunException(
                        number + " events had " + row.getLong(1) + " effects on " + row.getLong(2) + " orders");
            }
        }
    }

    private void setLength(PayaraMicro server, int millis) throws IOException, InterruptedException {
        URI uri = server.uri("/bench/api/lock/handlers?millis=" + millis);
        HttpRequest request = HttpRequest.newBuilder(uri)
                .POST(HttpRequest.BodyPublishers.noBody())
                .build();
        int status = http.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
        if (status != 204) {
            throw new InvalidRunException("the application answered " + status + " to " + uri);
        }
    }

    private double rate(String label, int millis, int percent) {
        return runs.median(name(label, millis, percent));
    }

    /** One line for each kind of handler and part of duplicates: events per second, and how many times as many. */
    private String table() {
        String without = ReceiveSide.UNGUARDED.label();
        StringBuilder table = new StringBuilder(
                String.format(Locale.ROOT, "%-24s%12s%20s%20s%n", "events/s", without, BY_POSTGRESQL, BY_REDIS));
        for (int millis : MILLIS) {
            for (int percent : PERCENT_TWICE) {
                double none = rate(without, millis, percent);
                double postgresql = rate(BY_POSTGRESQL, millis, percent);
                double redis = rate(BY_REDIS, millis, percent);
                table.append(String.format(
                        Locale.ROOT,
                        "%5d ms, %2d %% twice     %12.1f%12.1f (%5.2f)%12.1f (%5.2f)%n",
                        millis,
                        percent,
                        none,
                        postgresql,
                        postgresql / none,
                        redis,
                        redis / none));
            }
        }
        return table.toString();
    }

    private Report report(ReceiveStage stage, double load) throws SQLException {
        Map<String, Double> bars = new LinkedHashMap<>();
        JsonObjectBuilder ratios = Json.createObjectBuilder();
        for (int millis : MILLIS) {
            for (int percent : PERCENT_TWICE) {
                double without = rate(ReceiveSide.UNGUARDED.label(), millis, percent);
                for (String label : List.of(BY_POSTGRESQL, BY_REDIS)) {
                    double ratio = rate(label, millis, percent) / without;
                    bars.put(name(label, millis, percent), Report.rounded(ratio));
                    ratios.add(name(label, millis, percent), Report.rounded(ratio));
                }
            }
        }
        return new Report(
                "guard",
                Json.createObjectBuilder()
                        .add("ratios", ratios)
                        .add("runs", runs.json())
                        .add("rows", events)
                        .add("workers", WORKERS)
                        .add("partitions", ReceiveSide.GUARDED.partitions())
                        .add("jvm_options", ReceiveStage.JVM_OPTIONS)
                        .add("postgresql", stage.servers().postgresJson())
                        .add("load_before", load)
                        .build(),
                table(),
                Plot.bars("Events per second with a guard, compared with none", "ratio", bars),
                List.of());
    }
}
