package dev.twinbox.proof.bench;

import dev.twinbox.proof.bench.report.Console;
import dev.twinbox.proof.bench.report.Plot;
import dev.twinbox.proof.bench.report.Report;
import dev.twinbox.proof.landscape.BuiltFile;
import dev.twinbox.proof.landscape.Installation;
import dev.twinbox.proof.landscape.Machine;
import jakarta.json.Json;
import jakarta.json.JsonArrayBuilder;
import jakarta.json.JsonObject;
import jakarta.json.JsonObjectBuilder;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * {@code latency} of two relays in turns: this one and that of another executable jar. Each run has a new database, a
 * new topic and a new JVM. Every other round begins with the other relay. Both meet the same noise of the machine, so
 * their ratio says more than their times.
 */
final class LatencyComparison implements Benchmark {
    /** Twenty seconds of each rate. */
    static final int FULL_SIZE = 40_000;

    static final int ROUNDS = 3;

    private final Installation files;
    private final Side relay;
    private final Side other;
    private final LatencyRun.Schedules schedules;
    private final int rounds;
    private final Deadline deadline;

    /** A relay and its runs, each with one result for each rate. */
    private record Side(String label, Path jar, List<List<LatencyRun.Result>> runs) {
        Side(String label, Path jar) {
            this(label, jar, new ArrayList<>());
        }

        /** The median of the runs. */
        double millis(int rate, double percentile) {
            double[] sorted = runs.stream()
                    .mapToDouble(run -> run.get(rate).fromCommit().millis(percentile))
                    .sorted()
                    .toArray();
            return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
        }
    }

    /**
     * @param rows events of a run at the main rate; the other rates take the same time
     * @param rounds how often each relay is measured
     * @param baseline the executable jar of the other relay
     */
    LatencyComparison(Installation files, int rows, int rounds, Path baseline, Deadline deadline) {
        this.files = files;
        this.schedules = LatencyRun.Schedules.of(rows);
        this.rounds = rounds;
        this.relay = new Side("relay", files.file(BuiltFile.RELAY));
        this.other = new Side("baseline relay", baseline);
        this.deadline = deadline;
    }

    @Override
    public Report run() throws SQLException, IOException, InterruptedException {
        try (BenchServers servers = BenchServers.start(files, deadline)) {
            double load = Machine.load();
            for (int round = 1; round <= rounds; round++) {
                for (Side side : round % 2 == 1 ? List.of(relay, other) : List.of(other, relay)) {
                    Console.say("round " + round + ", " + side.label());
                    side.runs().add(measure(servers, side.jar()));
                }
            }
            return report(servers, load);
        }
    }

    private List<LatencyRun.Result> measure(BenchServers servers, Path jar) throws SQLException, IOException {
        servers.recreateDatabase();
        servers.topics().recreate(LatencyRun.TOPIC, LatencyRun.PARTITIONS);
        Relays relays = new Relays(servers.servers(), jar, BenchServers.DATABASE);
        relays.migrate();
        return new LatencyRun(servers, schedules, deadline).of(relays);
    }

    private Report report(BenchServers servers, double load) throws SQLException {
        StringBuilder table = new StringBuilder();
        JsonArrayBuilder rates = Json.createArrayBuilder();
        Map<String, Double> bars = new LinkedHashMap<>();
        for (int i = 0; i < LatencyRun.RATES.size(); i++) {
            rates.add(rate(i, table));
            for (Side side : List.of(relay, other)) {
                bars.put(LatencyRun.RATES.get(i) + "/s, " + side.label(), side.millis(i, 50));
            }
        }
        return new Report(
                "latency",
                figures(servers, rates, load),
                table.toString(),
                Plot.bars("COMMIT to acknowledgement, medians of " + rounds + " runs", "p50, milliseconds", bars),
                List.of());
    }

    /** The runs of one rate, and the ratios of the two relays. */
    private JsonObjectBuilder rate(int index, StringBuilder table) {
        JsonObjectBuilder json = Json.createObjectBuilder().add("per_s", LatencyRun.RATES.get(index));
        for (Side side : List.of(relay, other)) {
            JsonArrayBuilder times = Json.createArrayBuilder();
            for (List<LatencyRun.Result> run : side.runs()) {
                LatencyRun.Result result = run.get(index);
                table.append(result.fromCommit().line(result.rate() + "/s, " + side.label()));
                times.add(result.fromCommit()
                        .json()
                        .add("to_hand_over_p50_ms", result.toHandOver().millis(50))
                        .add("from_hand_over_p50_ms", result.fromHandOver().millis(50)));
            }
            json.add(side.label(), times);
        }
        for (double percentile : List.of(50.0, 95.0, 99.0)) {
            double ratio = Report.rounded(relay.millis(index, percentile) / other.millis(index, percentile));
            json.add(String.format(Locale.ROOT, "p%.0f_ratio", percentile), ratio);
            table.append(String.format(
                    Locale.ROOT,
                    "%,d/s: p%.0f of the relay / of the baseline %.3f%n",
                    LatencyRun.RATES.get(index),
                    percentile,
                    ratio));
        }
        return json;
    }

    private JsonObject figures(BenchServers servers, JsonArrayBuilder rates, double load) throws SQLException {
        return Json.createObjectBuilder()
                .add("rates", rates)
                .add("rounds", rounds)
                .add("seconds_per_rate", schedules.all().get(1).length().toMillis() / 1000.0)
                .add("payload_bytes", Workload.PAYLOAD_BYTES)
                .add("partitions", LatencyRun.PARTITIONS)
                .add("jvm_options", String.join(" ", LatencyRun.JVM_OPTIONS))
                .add("postgresql", servers.postgresJson())
                .add("load_before", load)
                .build();
    }
}
