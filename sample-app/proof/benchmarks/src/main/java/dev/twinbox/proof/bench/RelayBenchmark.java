package dev.twinbox.proof.bench;

import dev.twinbox.proof.bench.report.Console;
import dev.twinbox.proof.bench.report.Plot;
import dev.twinbox.proof.bench.report.Report;
import dev.twinbox.proof.landscape.BuiltFile;
import dev.twinbox.proof.landscape.Installation;
import dev.twinbox.proof.landscape.Machine;
import jakarta.json.Json;
import jakarta.json.JsonObject;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * How much of a bare producer's rate the relay reaches with the same events from an outbox. Other ways out of a table
 * are measured as well.
 *
 * <p>All sides send the same records with the same producer settings, each time from a new JVM to a new topic. The
 * sides alternate.
 */
final class RelayBenchmark implements Benchmark {

    private static final int ROUNDS = 3;
    private static final int KEYS = 10_000;
    private static final int PARTITIONS = 8;
    private static final String TOPIC = "bench-relay";
    /**
     * The bare producer holds the whole workload. A heap that grows or is half full would be collected while it is
     * timed. The heap is used before the clock starts, so all sides get memory that the kernel has already provided.
     */
    private static final List<String> JVM_OPTIONS = List.of("-Xms2g", "-Xmx2g", "-XX:+AlwaysPreTouch");

    private static final double REQUIRED_RATIO = 0.78;
    private static final double REQUIRED_SKIP_LOCKED_RATIO = 2;
    private static final double REQUIRED_EXACTLY_ONCE_RATIO = 0.55;

    private final Installation files;
    private final Workload workload;
    private final int rounds;
    private final Deadline deadline;
    private final Runs runs = new Runs();

    RelayBenchmark(Installation files, int rows, Deadline deadline) {
        this(files, rows, ROUNDS, deadline);
    }

    /** @param rounds how often each side is measured */
    RelayBenchmark(Installation files, int rows, int rounds, Deadline deadline) {
        this.files = files;
        this.workload = new Workload(rows, KEYS, 1);
        this.rounds = rounds;
        this.deadline = deadline;
    }

    @Override
    public Report run() throws SQLException, IOException, InterruptedException {
        try (BenchServers servers = BenchServers.start(files, Map.of("wal_level", "logical"), deadline)) {
            return measure(servers);
        }
    }

    private Report measure(BenchServers servers) throws SQLException, IOException, InterruptedException {
        Relays relays = servers.relays();
        relays.migrate();
        Map<String, String> settings = ProducerSettings.ofRelay(relays, servers, deadline);
        BareProducerSide producer = new BareProducerSide(workload, TOPIC, settings, JVM_OPTIONS, servers.folder());
        RelaySide relay = new RelaySide(RelaySide.LABEL, relays, workload.events(), JVM_OPTIONS);
        ExactlyOnceSide exactlyOnce = new ExactlyOnceSide(relays, workload.events(), JVM_OPTIONS);
        SkipLockedSide skipLocked = new SkipLockedSide(
                servers.postgres(), BenchServers.DATABASE, workload.events(), settings, JVM_OPTIONS, servers.folder());
        Console.say(String.format(
                Locale.ROOT,
                "loading %,d committed rows of %d bytes for each",
                workload.events(),
                Workload.PAYLOAD_BYTES));
        try (Connection connection = servers.connect()) {
            OutboxBacklog.load(connection, EventTable.TWINBOX, workload, TOPIC);
        }
        skipLocked.load(workload, TOPIC);
        DebeziumSide debezium = new DebeziumSide(
                servers, files.file(BuiltFile.BENCH_DEBEZIUM), workload.events(), settings, JVM_OPTIONS);
        debezium.load(workload, TOPIC, deadline);

        double load = Machine.load();
        for (int round = 1; round <= rounds; round++) {
            for (PublishingSide side : List.of(producer, relay, exactlyOnce, skipLocked, debezium)) {
                measure(servers, side, round);
            }
        }
        return report(servers, settings, load);
    }

    private void measure(BenchServers servers, PublishingSide side, int round)
            throws SQLException, IOException, InterruptedException {
        servers.topics().recreate(TOPIC, PARTITIONS);
        side.prepare();
        ProcessorTime before = ProcessorTime.withSenders(servers);
        Duration took = side.run(deadline);
        ProcessorTime spent = ProcessorTime.withSenders(servers).since(before);
        requireLonger(
                side,
                took,
                TopicCheck.check(servers.bootstrapServers(), TOPIC, workload, TopicCheck.Order.BY_KEY, deadline));
        runs.add(side.label(), round, workload.events(), took, spent);
    }

    /** The records confirm it: they were handed to the producer within the reported time. */
    private static void requireLonger(PublishingSide side, Duration reported, Duration span) {
        if (reported.compareTo(span) < 0) {
            throw new InvalidRunException(side.label() + " reports " + reported.toMillis()
                    + " ms up to the last acknowledgement, but the timestamps of its records are " + span.toMillis()
                    + " ms apart");
        }
    }

    private Report report(BenchServers servers, Map<String, String> settings, double load) throws SQLException {
        double relayRate = runs.median(RelaySide.LABEL);
        double ratio = relayRate / runs.median(BareProducerSide.LABEL);
        double skipLockedRatio = relayRate / runs.median(SkipLockedSide.LABEL);
        double exactlyOnceRatio = runs.median(ExactlyOnceSide.LABEL) / runs.median(BareProducerSide.LABEL);
        return new Report(
                "relay",
                figures(servers, settings, load),
                runs.table(),
                Plot.bars("The same events onto Kafka, medians of " + rounds + " runs", "events per second", medians()),
                List.of(
                        Report.Requirement.atLeast("relay / producer", ratio, REQUIRED_RATIO),
                        Report.Requirement.atLeast(
                                "relay, exactly once / producer", exactlyOnceRatio, REQUIRED_EXACTLY_ONCE_RATIO),
                        Report.Requirement.atLeast(
                                "relay / skip locked", skipLockedRatio, REQUIRED_SKIP_LOCKED_RATIO)));
    }

    private JsonObject figures(BenchServers servers, Map<String, String> settings, double load) throws SQLException {
        double relayRate = runs.median(RelaySide.LABEL);
        double producerRate = runs.median(BareProducerSide.LABEL);
        return Json.createObjectBuilder()
                .add("producer_per_s", Math.round(producerRate))
                .add("relay_per_s", Math.round(relayRate))
                .add("exactly_once_per_s", Math.round(runs.median(ExactlyOnceSide.LABEL)))
                .add("skip_locked_per_s", Math.round(runs.median(SkipLockedSide.LABEL)))
                .add("debezium_per_s", Math.round(runs.median(DebeziumSide.LABEL)))
                .add("ratio", Report.rounded(relayRate / producerRate))
                .add("ratio_required", REQUIRED_RATIO)
                .add("exactly_once_ratio", Report.rounded(runs.median(ExactlyOnceSide.LABEL) / producerRate))
                .add("exactly_once_ratio_required", REQUIRED_EXACTLY_ONCE_RATIO)
                .add("skip_locked_ratio", Report.rounded(relayRate / runs.median(SkipLockedSide.LABEL)))
                .add("skip_locked_ratio_required", REQUIRED_SKIP_LOCKED_RATIO)
                .add("debezium_ratio", Report.rounded(relayRate / runs.median(DebeziumSide.LABEL)))
                .add("runs", runs.json())
                .add("rows", workload.events())
                .add("payload_bytes", Workload.PAYLOAD_BYTES)
                .add("record_bytes", EventRecord.of(workload, 0).bytes())
                .add("keys", KEYS)
                .add("partitions", PARTITIONS)
                .add("jvm_options", String.join(" ", JVM_OPTIONS))
                .add("producer_settings", Report.object(ProducerSettings.chosen(settings)))
                .add("postgresql", servers.postgresJson())
                .add("load_before", load)
                .build();
    }

    private Map<String, Double> medians() {
        Map<String, Double> medians = new LinkedHashMap<>();
        for (String side : List.of(
                BareProducerSide.LABEL,
                RelaySide.LABEL,
                ExactlyOnceSide.LABEL,
                SkipLockedSide.LABEL,
                DebeziumSide.LABEL)) {
            medians.put(side, (double) Math.round(runs.median(side)));
        }
        return medians;
    }
}
