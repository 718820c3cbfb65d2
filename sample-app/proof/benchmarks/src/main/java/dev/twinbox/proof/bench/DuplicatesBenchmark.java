package dev.twinbox.proof.bench;

import dev.twinbox.fixtures.PayaraMicro;
import dev.twinbox.proof.bench.report.Console;
import dev.twinbox.proof.bench.report.Plot;
import dev.twinbox.proof.bench.report.Report;
import dev.twinbox.proof.landscape.Installation;
import dev.twinbox.proof.landscape.Machine;
import jakarta.json.Json;
import jakarta.json.JsonObject;
import jakarta.json.JsonObjectBuilder;
import java.io.IOException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a storm of duplicates costs. All events of a topic are handled once, then all of them come again and must be
 * skipped. Both are timed as in {@link ReceiveBenchmark}.
 */
final class DuplicatesBenchmark implements Benchmark {

    private static final int ROUNDS = 3;
    private static final int KEYS = 10_000;
    private static final String BATCH = "500";
    private static final double REQUIRED_GAIN = 2;

    private final Installation files;
    private final int events;
    private final Deadline deadline;
    private final Runs runs = new Runs();
    private long nextOrder = 1;

    DuplicatesBenchmark(Installation files, int rows, Deadline deadline) {
        this.files = files;
        this.events = rows;
        this.deadline = deadline;
    }

    @Override
    public Report run() throws SQLException, IOException {
        try (ReceiveStage stage = ReceiveStage.start(files, deadline)) {
            double load = Machine.load();
            try (PayaraMicro server = stage.server(Map.of("twinbox.inbox.batch.size", BATCH))) {
                // Round 0 is a warm-up.
                for (int round = 0; round <= ROUNDS; round++) {
                    for (ReceiveSide side : ReceiveSide.COMPARED) {
                        measure(stage, server, side, round);
                    }
                }
                server.terminate();
            }
            return report(stage, load);
        }
    }

    private void measure(ReceiveStage stage, PayaraMicro server, ReceiveSide side, int round) throws SQLException {
        Workload workload = new Workload(events, KEYS, nextOrder);
        nextOrder += events;
        stage.effects().clear();
        var first = stage.deliver(server, side, workload, Delivery.PLAIN);
        var second = stage.deliver(server, side, workload, Delivery.PLAIN);
        stage.effects().requireExactly(workload, side);
        if (round == 0) {
            Console.say("warmed up: " + side.label());
            return;
        }
        runs.add(effects(side), round, events, first.time(), first.spent());
        runs.add(duplicates(side), round, events, second.time(), second.spent());
    }

    private static String effects(ReceiveSide side) {
        return side.label() + ", effects";
    }

    private static String duplicates(ReceiveSide side) {
        return side.label() + ", duplicates";
    }

    private double gain(ReceiveSide side) {
        return runs.median(duplicates(side)) / runs.median(effects(side));
    }

    private Report report(ReceiveStage stage, double load) throws SQLException {
        JsonObjectBuilder figures = Json.createObjectBuilder();
        Map<String, Double> bars = new LinkedHashMap<>();
        for (ReceiveSide side : ReceiveSide.COMPARED) {
            bars.put(effects(side), (double) Math.round(runs.median(effects(side))));
            bars.put(duplicates(side), (double) Math.round(runs.median(duplicates(side))));
        }
        JsonObject whole = figures.add("duplicates_per_s", Math.round(runs.median(duplicates(ReceiveSide.JPA))))
                .add("effects_per_s", Math.round(runs.median(effects(ReceiveSide.JPA))))
                .add("ratio", Report.rounded(gain(ReceiveSide.JPA)))
                .add("jdbc_duplicates_per_s", Math.round(runs.median(duplicates(ReceiveSide.JDBC))))
                .add("jdbc_effects_per_s", Math.round(runs.median(effects(ReceiveSide.JDBC))))
                .add("jdbc_ratio", Report.rounded(gain(ReceiveSide.JDBC)))
                .add("by_hand_ratio", Report.rounded(gain(ReceiveSide.BY_HAND)))
                .add("ratio_required", REQUIRED_GAIN)
                .add("runs", runs.json())
                .add("rows", events)
                .add("batch_size", Integer.parseInt(BATCH))
                .add("payload_bytes", Workload.PAYLOAD_BYTES)
                .add("jvm_options", ReceiveStage.JVM_OPTIONS)
                .add("postgresql", stage.servers().postgresJson())
                .add("load_before", load)
                .build();
        List<Report.Requirement> requirements = new ArrayList<>();
        for (ReceiveSide side : List.of(ReceiveSide.JPA, ReceiveSide.JDBC)) {
            requirements.add(
                    Report.Requirement.atLeast(side.label() + ", skipped / effects", gain(side), REQUIRED_GAIN));
        }
        return new Report(
                "duplicates",
                whole,
                runs.table(),
                Plot.bars("Events handled and duplicates skipped, medians", "events per second", bars),
                requirements);
    }
}
