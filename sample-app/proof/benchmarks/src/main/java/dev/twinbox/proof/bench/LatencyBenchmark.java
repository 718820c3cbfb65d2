package dev.twinbox.proof.bench;

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
import java.sql.SQLException;
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

    private static final String DIRECT_TOPIC = "bench-direct";
    private static final double REQUIRED_P50_MILLIS = 3;
    private static final double REQUIRED_P99_MILLIS_BEYOND_DIRECT = 15;

    private final Installation files;
    private final Deadline deadline;
    private final LatencyRun.Schedules schedules;

    /** @param rows events at the main rate; the other rates take the same time */
    LatencyBenchmark(Installation files, int rows, Deadline deadline) {
        this.files = files;
        this.deadline = deadline;
        this.schedules = LatencyRun.Schedules.of(rows);
    }

    /**
     * The result of one rate.
     *
     * @param parts of the pages of this time
     * @param direct the same rate by the direct producer
     */
    private record Measured(LatencyRun.Result relay, List<PartTimes> parts, Latencies direct) {}

    @Override
    public Report run() throws SQLException, IOException, InterruptedException {
        try (BenchServers servers = BenchServers.start(files, deadline)) {
            Relays relays = servers.relays();
            relays.migrate();
            Map<String, String> settings = ProducerSettings.ofRelay(relays, servers, deadline);
            // The relay does not linger when no record follows, so the direct producer must not linger either.
            settings.put(ProducerConfig.LINGER_MS_CONFIG, "0");
            servers.topics().create(LatencyRun.TOPIC, LatencyRun.PARTITIONS);
            servers.topics().create(DIRECT_TOPIC, LatencyRun.PARTITIONS);
            double load = Machine.load();
            List<LatencyRun.Result> relayed = new LatencyRun(servers, schedules, deadline).of(relays);
            List<Latencies> direct = direct(servers, settings);
            List<Measured> all = new ArrayList<>();
            for (int i = 0; i < relayed.size(); i++) {
                all.add(new Measured(relayed.get(i), parts(relayed.get(i)), direct.get(i)));
            }
            return report(servers, all, load);
        }
    }

    private static List<PartTimes> parts(LatencyRun.Result result) {
        return PartTimes.NAMES.stream()
                .map(name -> PartTimes.of(result.after(), name).since(PartTimes.of(result.before(), name)))
                .toList();
    }

    private List<Latencies> direct(BenchServers servers, Map<String, String> settings) throws InterruptedException {
        List<Latencies> all = new ArrayList<>();
        try (DirectProducer producer = new DirectProducer(settings, schedules.workload(), DIRECT_TOPIC)) {
            for (OpenLoop.Schedule schedule : schedules.all()) {
                Console.say("producing directly, " + schedule.perSecond() + "/s");
                all.add(producer.run(schedule, deadline));
            }
        }
        TopicCheck.check(
                servers.bootstrapServers(), DIRECT_TOPIC, schedules.workload(), TopicCheck.Order.BY_KEY, deadline);
        return all.subList(1, all.size());
    }

    private Report report(BenchServers servers, List<Measured> all, double load) throws SQLException {
        Measured main = all.get(LatencyRun.RATES.indexOf(LatencyRun.MAIN_RATE));
        JsonArrayBuilder rates = Json.createArrayBuilder();
        StringBuilder table = new StringBuilder();
        Map<String, List<Double>> lines = new LinkedHashMap<>();
        for (Measured each : all) {
            rates.add(json(each));
            table.append(lines(each));
            lines.put(
                    "relay, " + each.relay.rate() + "/s",
                    each.relay.fromCommit().percentiles());
            lines.put("direct, " + each.relay.rate() + "/s", each.direct.percentiles());
        }
        double p99Limit = REQUIRED_P99_MILLIS_BEYOND_DIRECT + main.direct.millis(99);
        return new Report(
                "latency",
                figures(servers, main, rates, load),
                table.toString(),
                Plot.lines("COMMIT to acknowledgement", "percentile", "milliseconds", Latencies.LABELS, lines),
                List.of(
                        Report.Requirement.atMost(
                                "p50 at 2,000/s, ms", main.relay.fromCommit().millis(50), REQUIRED_P50_MILLIS),
                        Report.Requirement.atMost(
                                "p99 at 2,000/s, ms", main.relay.fromCommit().millis(99), p99Limit)));
    }

    private static JsonObjectBuilder json(Measured each) {
        JsonObjectBuilder parts = Json.createObjectBuilder();
        each.parts.forEach(part -> parts.add(part.name(), part.json()));
        return Json.createObjectBuilder()
                .add("per_s", each.relay.rate())
                .add("events", each.relay.fromCommit().count())
                .add("commit_to_ack", each.relay.fromCommit().json())
                .add("commit_to_hand_over", each.relay.toHandOver().json())
                .add("hand_over_to_ack", each.relay.fromHandOver().json())
                .add("page_parts", parts)
                .add("due_to_ack", each.relay.fromDue().json())
                .add("direct", each.direct.json());
    }

    private static String lines(Measured each) {
        String rate = each.relay.rate() + "/s";
        StringBuilder lines = new StringBuilder(each.relay.fromCommit().line(rate + ", COMMIT to ack"))
                .append(each.relay.toHandOver().line(rate + ", COMMIT to hand-over"))
                .append(each.relay.fromHandOver().line(rate + ", hand-over to ack"));
        each.parts.forEach(part -> lines.append(part.line(rate + ", pages")));
        return lines.append(each.relay.fromDue().line(rate + ", due to ack"))
                .append(each.direct.line(rate + ", direct"))
                .toString();
    }

    private JsonObject figures(BenchServers servers, Measured main, JsonArrayBuilder rates, double load)
            throws SQLException {
        return Json.createObjectBuilder()
                .add("p50_ms", main.relay.fromCommit().millis(50))
                .add("p95_ms", main.relay.fromCommit().millis(95))
                .add("p99_ms", main.relay.fromCommit().millis(99))
                .add("p999_ms", main.relay.fromCommit().millis(99.9))
                .add("direct_p50_ms", main.direct.millis(50))
                .add("direct_p99_ms", main.direct.millis(99))
                .add("p50_ms_required", REQUIRED_P50_MILLIS)
                .add("p99_ms_required", Report.rounded(REQUIRED_P99_MILLIS_BEYOND_DIRECT + main.direct.millis(99)))
                .add("rate_per_s", LatencyRun.MAIN_RATE)
                .add("rates", rates)
                .add("seconds_per_rate", schedules.all().get(1).length().toMillis() / 1000.0)
                .add("payload_bytes", Workload.PAYLOAD_BYTES)
                .add("partitions", LatencyRun.PARTITIONS)
                .add("jvm_options", String.join(" ", LatencyRun.JVM_OPTIONS))
                .add("postgresql", servers.postgresJson())
                .add("load_before", load)
                .build();
    }
}
