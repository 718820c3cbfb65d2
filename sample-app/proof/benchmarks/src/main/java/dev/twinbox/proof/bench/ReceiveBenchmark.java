package dev.twinbox.proof.bench;

import dev.twinbox.fixtures.PayaraMicro;
import dev.twinbox.proof.bench.ReceiveStage.Effort;
import dev.twinbox.proof.bench.report.Console;
import dev.twinbox.proof.bench.report.Plot;
import dev.twinbox.proof.bench.report.Report;
import dev.twinbox.proof.landscape.Installation;
import dev.twinbox.proof.landscape.Machine;
import jakarta.json.Json;
import jakarta.json.JsonArrayBuilder;
import jakarta.json.JsonObject;
import java.io.IOException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * How many events per second get their effect inside Payara. Compared are a JPA handler and a JDBC handler of Twinbox,
 * and a consumer written by hand with JDBC in the same application. Batch size, number of partitions and share of
 * repeats vary.
 *
 * <p>All runs are timed from outside. The time begins when the events become visible on the topic. It ends when the
 * consumer group has committed the last offset.
 */
final class ReceiveBenchmark implements Benchmark {

    private static final int KEYS = 10_000;
    private static final int LARGEST = 500;
    private static final int SINGLE = 1;
    private static final Delivery TWO_PARTITIONS = new Delivery(2, 1);
    private static final List<Delivery> COMPARED = List.of(Delivery.PLAIN, TWO_PARTITIONS);
    private static final double REQUIRED_JDBC_RATIO = 0.8;
    private static final double REQUIRED_JPA_RATIO = 0.6;
    private static final double REQUIRED_BATCH_GAIN = 15;
    private static final double REQUIRED_PARTITION_GAIN = 1.3;

    private final Installation files;
    private final Plan plan;
    private final Deadline deadline;
    private final Runs runs = new Runs();
    private long nextOrder = 1;

    /** Full size. */
    ReceiveBenchmark(Installation files, int rows, Deadline deadline) {
        this(files, Plan.whole(rows), deadline);
    }

    ReceiveBenchmark(Installation files, Plan plan, Deadline deadline) {
        this.files = files;
        this.plan = plan;
        this.deadline = deadline;
    }

    /**
     * What is measured.
     *
     * @param deliveries by batch size, one server for each
     * @param rounds with all of them
     * @param moreRounds with those whose partitions are compared: they differ by less than runs do
     * @param rows records of a run with the largest batches
     */
    record Plan(Map<Integer, List<Delivery>> deliveries, int rounds, int moreRounds, int rows) {

        static Plan whole(int rows) {
            List<Delivery> all =
                    List.of(Delivery.PLAIN, TWO_PARTITIONS, new Delivery(1, 2), new Delivery(4, 1), new Delivery(4, 2));
            Map<Integer, List<Delivery>> deliveries = new LinkedHashMap<>();
            List.of(LARGEST, 50, SINGLE).forEach(batchSize -> deliveries.put(batchSize, all));
            return new Plan(deliveries, 3, 2, rows);
        }

        /** What the requirements need. */
        static Plan brief(int rows) {
            Map<Integer, List<Delivery>> deliveries = new LinkedHashMap<>();
            deliveries.put(LARGEST, List.of(Delivery.PLAIN, TWO_PARTITIONS, new Delivery(4, 2)));
            deliveries.put(SINGLE, List.of(Delivery.PLAIN, TWO_PARTITIONS));
            return new Plan(deliveries, 1, 0, rows);
        }

        /** A size at which all runs take about the same time. */
        int rows(int batchSize) {
            int divisor = switch (batchSize) {
                case LARGEST -> 1;
                case SINGLE -> 50;
                default -> 3;
            };
            return Math.max(1, rows / divisor);
        }
    }

    @Override
    public Report run() throws SQLException, IOException {
        try (ReceiveStage stage = ReceiveStage.start(files, deadline)) {
            double load = Machine.load();
            for (var each : plan.deliveries.entrySet()) {
                int batchSize = each.getKey();
                try (PayaraMicro server =
                        stage.server(Map.of("twinbox.inbox.batch.size", Integer.toString(batchSize)))) {
                    measure(stage, server, batchSize, each.getValue());
                    server.terminate();
                }
            }
            return report(stage, load);
        }
    }

    private void measure(ReceiveStage stage, PayaraMicro server, int batchSize, List<Delivery> deliveries)
            throws SQLException {
        for (ReceiveSide side : ReceiveSide.COMPARED) {
            Console.say("warming up: " + label(side, batchSize, Delivery.PLAIN));
            consume(stage, server, side, plan.rows(batchSize), Delivery.PLAIN);
        }
        for (int round = 1; round <= plan.rounds + plan.moreRounds; round++) {
            for (Delivery delivery : round <= plan.rounds ? deliveries : COMPARED) {
                for (ReceiveSide side : ReceiveSide.COMPARED) {
                    int records = plan.rows(batchSize);
                    Effort effort = consume(stage, server, side, records, delivery);
                    runs.add(label(side, batchSize, delivery), round, records, effort.time(), effort.spent());
                }
            }
        }
    }

    private static String label(ReceiveSide side, int batchSize, Delivery delivery) {
        return side.label() + ", batch " + batchSize + ", " + delivery.label();
    }

    private Effort consume(ReceiveStage stage, PayaraMicro server, ReceiveSide side, int records, Delivery delivery)
            throws SQLException {
        Workload workload = new Workload(Math.max(1, records / delivery.copies()), KEYS, nextOrder);
        nextOrder += workload.events();
        stage.effects().clear();
        Effort effort = stage.deliver(server, side, workload, delivery);
        stage.effects().requireExactly(workload, side);
        return effort;
    }

    private double rate(ReceiveSide side, int batchSize, Delivery delivery) {
        return runs.median(label(side, batchSize, delivery));
    }

    private double batchRate(ReceiveSide side) {
        return rate(side, LARGEST, Delivery.PLAIN);
    }

    private Report report(ReceiveStage stage, double load) throws SQLException {
        double jpaRatio = batchRate(ReceiveSide.JPA) / batchRate(ReceiveSide.BY_HAND);
        double jdbcRatio = batchRate(ReceiveSide.JDBC) / batchRate(ReceiveSide.BY_HAND);
        List<Report.Requirement> requirements = new ArrayList<>(List.of(
                Report.Requirement.atLeast("JPA handler / by hand", jpaRatio, REQUIRED_JPA_RATIO),
                Report.Requirement.atLeast("JDBC handler / by hand", jdbcRatio, REQUIRED_JDBC_RATIO),
                Report.Requirement.atLeast("JPA, batch / single", batchGain(ReceiveSide.JPA), REQUIRED_BATCH_GAIN),
                Report.Requirement.atLeast("JDBC, batch / single", batchGain(ReceiveSide.JDBC), REQUIRED_BATCH_GAIN)));
        for (int batchSize : plan.deliveries.keySet()) {
            for (ReceiveSide side : List.of(ReceiveSide.JPA, ReceiveSide.JDBC)) {
                requirements.add(Report.Requirement.atLeast(
                        side.label() + ", batch " + batchSize + ", two partitions / one",
                        partitionGain(side, batchSize),
                        REQUIRED_PARTITION_GAIN));
            }
        }
        return new Report("receive", figures(stage, load), runs.table(), plot(), requirements);
    }

    private double batchGain(ReceiveSide side) {
        return batchRate(side) / rate(side, SINGLE, Delivery.PLAIN);
    }

    private JsonObject figures(ReceiveStage stage, double load) throws SQLException {
        return Json.createObjectBuilder()
                .add("jpa_per_s", Math.round(batchRate(ReceiveSide.JPA)))
                .add("jdbc_per_s", Math.round(batchRate(ReceiveSide.JDBC)))
                .add("by_hand_per_s", Math.round(batchRate(ReceiveSide.BY_HAND)))
                .add("jpa_single_per_s", Math.round(rate(ReceiveSide.JPA, SINGLE, Delivery.PLAIN)))
                .add("jdbc_single_per_s", Math.round(rate(ReceiveSide.JDBC, SINGLE, Delivery.PLAIN)))
                .add("by_hand_single_per_s", Math.round(rate(ReceiveSide.BY_HAND, SINGLE, Delivery.PLAIN)))
                .add("ratio", Report.rounded(batchRate(ReceiveSide.JPA) / batchRate(ReceiveSide.BY_HAND)))
                .add("ratio_required", REQUIRED_JPA_RATIO)
                .add("jdbc_ratio", Report.rounded(batchRate(ReceiveSide.JDBC) / batchRate(ReceiveSide.BY_HAND)))
                .add("jdbc_ratio_required", REQUIRED_JDBC_RATIO)
                .add("batch_gain", Report.rounded(batchGain(ReceiveSide.JPA)))
                .add("jdbc_batch_gain", Report.rounded(batchGain(ReceiveSide.JDBC)))
                .add("batch_gain_required", REQUIRED_BATCH_GAIN)
                .add("two_partitions", partitionsJson())
                .add("two_partitions_gain_required", REQUIRED_PARTITION_GAIN)
                .add("runs", runs.json())
                .add("rows", plan.rows)
                .add("payload_bytes", Workload.PAYLOAD_BYTES)
                .add("jvm_options", ReceiveStage.JVM_OPTIONS)
                .add("postgresql", stage.servers().postgresJson())
                .add("load_before", load)
                .build();
    }

    private double partitionGain(ReceiveSide side, int batchSize) {
        return rate(side, batchSize, TWO_PARTITIONS) / rate(side, batchSize, Delivery.PLAIN);
    }

    /** For each gain: how busy the processors were with one partition. */
    private JsonArrayBuilder partitionsJson() {
        JsonArrayBuilder all = Json.createArrayBuilder();
        for (int batchSize : plan.deliveries.keySet()) {
            for (ReceiveSide side : ReceiveSide.COMPARED) {
                all.add(Json.createObjectBuilder()
                        .add("side", side.label())
                        .add("batch", batchSize)
                        .add("gain", Report.rounded(partitionGain(side, batchSize)))
                        .add(
                                "processors_busy_one",
                                Report.rounded(runs.processorsBusy(label(side, batchSize, Delivery.PLAIN))))
                        .add(
                                "processors_busy_two",
                                Report.rounded(runs.processorsBusy(label(side, batchSize, TWO_PARTITIONS)))));
            }
        }
        return all;
    }

    /** The effect of partitions and repeats, with the largest batches. */
    private Plot plot() {
        List<Delivery> deliveries = plan.deliveries.getOrDefault(LARGEST, List.of());
        Map<String, List<Double>> bars = new LinkedHashMap<>();
        for (ReceiveSide side : ReceiveSide.COMPARED) {
            bars.put(
                    side.label(),
                    deliveries.stream()
                            .map(delivery -> (double) Math.round(rate(side, LARGEST, delivery)))
                            .toList());
        }
        return Plot.groups(
                "Inside Payara, batches of " + LARGEST + ", medians",
                "records per second",
                deliveries.stream().map(Delivery::label).toList(),
                bars);
    }
}
