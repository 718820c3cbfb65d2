package dev.twinbox.proof.bench;

import dev.twinbox.fixtures.RelayProcess;
import dev.twinbox.proof.bench.report.Console;
import dev.twinbox.proof.bench.report.Latencies;
import dev.twinbox.proof.bench.report.Plot;
import dev.twinbox.proof.bench.report.Report;
import dev.twinbox.proof.landscape.Installation;
import dev.twinbox.proof.landscape.Machine;
import jakarta.json.Json;
import jakarta.json.JsonArrayBuilder;
import jakarta.json.JsonObject;
import jakarta.json.JsonObjectBuilder;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerConfig;

/**
 * How long after its COMMIT an event is acknowledged by Kafka, at several rates. An application that produces directly
 * is measured for comparison.
 *
 * <p>Both follow an open-loop schedule. The relay's time begins when COMMIT has returned. The direct producer's time
 * begins when the event was due. The relay's time is also shown in its parts: up to the hand-over to the producer and
 * after it, noted for each event, and the parts of each page by the relay's own metrics.
 */
final class LatencyBenchmark implements Benchmark {

    private static final int KEYS = 10_000;
    private static final int PARTITIONS = 8;
    private static final String TOPIC = "bench-latency";
    private static final String DIRECT_TOPIC = "bench-direct";
    private static final int MAIN_RATE = 2_000;
    private static final List<Integer> RATES = List.of(600, MAIN_RATE, 8_000);
    /** With more commits per second this would measure the disk. */
    private static final int TRANSACTIONS_PER_SECOND = 2_000;

    private static final List<String> JVM_OPTIONS = List.of("-Xms512m", "-Xmx512m");
    private static final double REQUIRED_P50_MILLIS = 3;
    private static final double REQUIRED_P99_MILLIS_BEYOND_DIRECT = 15;

    private final Installation files;
    private final Deadline deadline;
    private final List<OpenLoop.Schedule> schedules = new ArrayList<>();
    private final Workload workload;

    /** @param rows events at the main rate; the other rates take the same time */
    LatencyBenchmark(Installation files, int rows, Deadline deadline) {
        this.files = files;
        this.deadline = deadline;
        int first = add(0, warmUp(rows), MAIN_RATE);
        for (int rate : RATES) {
            first = add(first, (int) ((long) rows * rate / MAIN_RATE), rate);
        }
        this.workload = new Workload(first, KEYS, 1);
    }

    private static int warmUp(int rows) {
        return Math.max(1_000, rows / 3);
    }

    private int add(int first, int events, int rate) {
        int perTransaction = Math.max(1, rate / TRANSACTIONS_PER_SECOND);
        int whole = Math.max(1, events / perTransaction) * perTransaction;
        schedules.add(new OpenLoop.Schedule(first, whole, rate, perTransaction));
        return first + whole;
    }

    /**
     * The result of one rate.
     *
     * @param toHandOver from COMMIT to the producer
     * @param fromHandOver from the producer to the acknowledgement
     * @param parts of the pages of this time
     */
    private record Measured(
            int rate,
            Latencies fromCommit,
            Latencies fromDue,
            Latencies toHandOver,
            Latencies fromHandOver,
            List<PartTimes> parts,
            Latencies direct) {

        Measured beside(Latencies produced) {
            return new Measured(rate, fromCommit, fromDue, toHandOver, fromHandOver, parts, produced);
        }
    }

    @Override
    public Report run() throws SQLException, IOException, InterruptedException {
        try (BenchServers servers = BenchServers.start(files, deadline)) {
            Relays relays = servers.relays();
            relays.migrate();
            Map<String, String> settings = ProducerSettings.ofRelay(relays, servers, deadline);
            // The relay does not linger when no record follows, so the direct producer must not linger either.
            settings.put(ProducerConfig.LINGER_MS_CONFIG, "0");
            servers.topics().create(TOPIC, PARTITIONS);
            servers.topics().create(DIRECT_TOPIC, PARTITIONS);
            double load = Machine.load();
            List<Measured> relayed = relayed(servers, relays);
            List<Latencies> direct = direct(servers, settings);
            List<Measured> all = new ArrayList<>();
            for (int i = 0; i < RATES.size(); i++) {
                all.add(relayed.get(i).beside(direct.get(i)));
            }
            return report(servers, all, load);
        }
    }

    private List<Measured> relayed(BenchServers servers, Relays relays) throws SQLException, IOException {
        Path file = servers.folder().resolve("ack-times");
        AckTimes.Notes notes = AckTimes.notes(file, workload.events());
        List<String> options = new ArrayList<>(JVM_OPTIONS);
        options.addAll(AckTimes.jvmOptions(servers.folder(), file, workload.events()));
        List<OpenLoop.Running> done = new ArrayList<>();
        List<RelayMetrics> metrics = new ArrayList<>(); // after each schedule
        try (RelayProcess relay = relays.with("twinbox.relay.kafka.interceptor.classes", AckTimes.class.getName())
                .start(options)) {
            relay.awaitReady(deadline.remaining("the relay"));
            OpenLoop applications = new OpenLoop(servers, EventTable.TWINBOX, workload, TOPIC, deadline);
            for (OpenLoop.Schedule schedule : schedules) {
                Console.say("committing " + schedule.events() + " events, " + schedule.perSecond() + "/s");
                done.add(applications.run(schedule));
                metrics.add(RelayMetrics.awaitAcknowledged(relay, schedule.end(), deadline));
            }
            Relays.stop(relay);
        }
        TopicCheck.check(servers.bootstrapServers(), TOPIC, workload, TopicCheck.Order.ANY, deadline);
        List<Measured> measured = new ArrayList<>();
        for (int i = 1; i < done.size(); i++) {
            done.get(i).requireOnTime();
            measured.add(measured(done.get(i), notes, parts(metrics.get(i - 1), metrics.get(i))));
        }
        return measured;
    }

    private static List<PartTimes> parts(RelayMetrics before, RelayMetrics after) {
        return PartTimes.NAMES.stream()
                .map(name -> PartTimes.of(after, name).since(PartTimes.of(before, name)))
                .toList();
    }

    private static Measured measured(OpenLoop.Running run, AckTimes.Notes notes, List<PartTimes> parts) {
        Measured measured = new Measured(
                run.schedule().perSecond(),
                new Latencies(),
                new Latencies(),
                new Latencies(),
                new Latencies(),
                parts,
                new Latencies());
        for (int number = run.schedule().first(); number < run.schedule().end(); number++) {
            long at = notes.acknowledgedAt(number);
            long handed = notes.handedAt(number);
            if (at == 0 || handed == 0) {
                throw new InvalidRunException(
                        "event " + number + " is on the topic, but its acknowledgement was not seen");
            }
            // The acknowledgement may arrive before the answer to the COMMIT.
            measured.fromCommit.add(Math.max(0, at - run.committedAt(number)));
            measured.fromDue.add(at - run.dueAt(number));
            measured.toHandOver.add(Math.max(0, handed - run.committedAt(number)));
            measured.fromHandOver.add(Math.max(0, at - handed));
        }
        return measured;
    }

    private List<Latencies> direct(BenchServers servers, Map<String, String> settings) throws InterruptedException {
        List<Latencies> all = new ArrayList<>();
        try (DirectProducer producer = new DirectProducer(settings, workload, DIRECT_TOPIC)) {
            for (OpenLoop.Schedule schedule : schedules) {
                Console.say("producing directly, " + schedule.perSecond() + "/s");
                all.add(producer.run(schedule, deadline));
            }
        }
        TopicCheck.check(servers.bootstrapServers(), DIRECT_TOPIC, workload, TopicCheck.Order.BY_KEY, deadline);
        return all.subList(1, all.size());
    }

    private Report report(BenchServers servers, List<Measured> all, double load) throws SQLException {
        Measured main = all.get(RATES.indexOf(MAIN_RATE));
        JsonArrayBuilder rates = Json.createArrayBuilder();
        StringBuilder table = new StringBuilder();
        Map<String, List<Double>> lines = new LinkedHashMap<>();
        for (Measured each : all) {
            rates.add(json(each));
            table.append(lines(each));
            lines.put("relay, " + each.rate + "/s", each.fromCommit.percentiles());
            lines.put("direct, " + each.rate + "/s", each.direct.percentiles());
        }
        double p99Limit = REQUIRED_P99_MILLIS_BEYOND_DIRECT + main.direct.millis(99);
        return new Report(
                "latency",
                figures(servers, main, rates, load),
                table.toString(),
                Plot.lines("COMMIT to acknowledgement", "percentile", "milliseconds", Latencies.LABELS, lines),
                List.of(
                        Report.Requirement.atMost(
                                "p50 at 2,000/s, ms", main.fromCommit.millis(50), REQUIRED_P50_MILLIS),
                        Report.Requirement.atMost("p99 at 2,000/s, ms", main.fromCommit.millis(99), p99Limit)));
    }

    private static JsonObjectBuilder json(Measured each) {
        JsonObjectBuilder parts = Json.createObjectBuilder();
        each.parts.forEach(part -> parts.add(part.name(), part.json()));
        return Json.createObjectBuilder()
                .add("per_s", each.rate)
                .add("events", each.fromCommit.count())
                .add("commit_to_ack", each.fromCommit.json())
                .add("commit_to_hand_over", each.toHandOver.json())
                .add("hand_over_to_ack", each.fromHandOver.json())
                .add("page_parts", parts)
                .add("due_to_ack", each.fromDue.json())
                .add("direct", each.direct.json());
    }

    private static String lines(Measured each) {
        String rate = each.rate + "/s";
        StringBuilder lines = new StringBuilder(each.fromCommit.line(rate + ", COMMIT to ack"))
                .append(each.toHandOver.line(rate + ", COMMIT to hand-over"))
                .append(each.fromHandOver.line(rate + ", hand-over to ack"));
        each.parts.forEach(part -> lines.append(part.line(rate + ", pages")));
        return lines.append(each.fromDue.line(rate + ", due to ack"))
                .append(each.direct.line(rate + ", direct"))
                .toString();
    }

    private JsonObject figures(BenchServers servers, Measured main, JsonArrayBuilder rates, double load)
            throws SQLException {
        return Json.createObjectBuilder()
                .add("p50_ms", main.fromCommit.millis(50))
                .add("p95_ms", main.fromCommit.millis(95))
                .add("p99_ms", main.fromCommit.millis(99))
                .add("p999_ms", main.fromCommit.millis(99.9))
                .add("direct_p50_ms", main.direct.millis(50))
                .add("direct_p99_ms", main.direct.millis(99))
                .add("p50_ms_required", REQUIRED_P50_MILLIS)
                .add("p99_ms_required", Report.rounded(REQUIRED_P99_MILLIS_BEYOND_DIRECT + main.direct.millis(99)))
                .add("rate_per_s", MAIN_RATE)
                .add("rates", rates)
                .add(
                        "seconds_per_rate",
                        Duration.ofNanos(schedules.get(1).length().toNanos()).toMillis() / 1000.0)
                .add("payload_bytes", Workload.PAYLOAD_BYTES)
                .add("partitions", PARTITIONS)
                .add("jvm_options", String.join(" ", JVM_OPTIONS))
                .add("postgresql", servers.postgresJson())
                .add("load_before", load)
                .build();
    }
}
