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
import java.util.function.ToDoubleFunction;

/**
 * {@code latency} of two relays in turns: this one and that of another executable jar. Each run has a new database, a
 * new topic and a new JVM. Every other round begins with the other relay. Both meet the same noise of the machine, so
 * their ratio says more than their times.
 */
final class LatencyComparison implements Benchmark {
    /** Twenty seconds of each rate. */
    static final int FULL_SIZE = 40_000;

    static final int ROUNDS = 3;

    private static final String THIS = "relay";
    private static final String BASELINE = "baseline relay";

    private final Installation files;
    private final LatencyRun.Schedules schedules;
    private final int rounds;
    private final Path baseline;
    private final Deadline deadline;
    private final Map<String, List<List<LatencyRun.Result>>> results = new LinkedHashMap<>();

    /**
     * @param rows events of a run at the main rate; the other rates take the same time
     * @param rounds how often each relay is measured
     * @param baseline the executable jar of the other relay
     */
    LatencyComparison(Installation files, int rows, int rounds, Path baseline, Deadline deadline) {
        this.files = files;
        this.schedules = LatencyRun.Schedules.of(rows);
        this.rounds = rounds;
        this.baseline = baseline;
        this.deadline = deadline;
    }

    @Override
    public Report run() throws SQLException, IOException, InterruptedException {
        try (BenchServers servers = BenchServers.start(files, deadline)) {
            double load = Machine.load();
            Map<String, Path> jars = Map.of(THIS, files.file(BuiltFile.RELAY), BASELINE, baseline);
            for (int round = 1; round <= rounds; round++) {
                for (String side : round % 2 == 1 ? List.of(THIS, BASELINE) : List.of(BASELINE, THIS)) {
                    Console.say("round " + round + ", " + side);
                    results.computeIfAbsent(side, any -> new ArrayList<>()).add(measure(servers, jars.get(side)));
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
            for (String side : results.keySet()) {
                bars.put(LatencyRun.RATES.get(i) + "/s, " + side, median(side, i, 50));
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
        results.forEach((side, runs) -> {
            JsonArrayBuilder times = Json.createArrayBuilder();
            for (List<LatencyRun.Result> run : runs) {
                LatencyRun.Result result = run.get(index);
                table.append(result.fromCommit().line(result.rate() + "/s, " + side));
                times.add(result.fromCommit()
                        .json()
                        .add("to_hand_over_p50_ms", result.toHandOver().millis(50))
                        .add("from_hand_over_p50_ms", result.fromHandOver().millis(50)));
            }
            json.add(side, times);
        });
        for (double percentile : List.of(50.0, 95.0, 99.0)) {
            double ratio = Report.rounded(median(THIS, index, percentile) / median(BASELINE, index, percentile));
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

    private double median(String side, int rate, double percentile) {
        ToDoubleFunction<List<LatencyRun.Result>> millis =
                run -> run.get(rate).fromCommit().millis(percentile);
        double[] sorted =
                results.get(side).stream().mapToDouble(millis).sorted().toArray();
        return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
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
