package dev.twinbox.proof.bench;

import dev.twinbox.proof.bench.report.Console;
import dev.twinbox.proof.bench.report.Report;
import dev.twinbox.proof.landscape.BuiltFile;
import jakarta.json.Json;
import jakarta.json.JsonArrayBuilder;
import jakarta.json.JsonObjectBuilder;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;

/** The sides of {@link RelayBenchmark} with one number of events, in turns. */
final class RelayRounds {
    static final int KEYS = 10_000;
    static final int PARTITIONS = 8;

    static final String BASELINE = "baseline relay";
    static final String BASELINE_EXACTLY_ONCE = "baseline relay, exactly once";

    private static final String TOPIC = "bench-relay";
    private static final String BASELINE_DATABASE = "bench_baseline";
    private static final int MANY = 1_000_000;

    private final BenchServers servers;
    private final Map<String, String> settings;
    private final Workload workload;
    private final Deadline deadline;
    private final List<PublishingSide> sides = new ArrayList<>();
    private final List<String> outboxes = new ArrayList<>(); // databases
    private final Runs runs = new Runs();
    private PlainCopy plain = new PlainCopy(Double.NaN, Double.NaN);

    /** @param settings of the bare producer and of the other sides */
    RelayRounds(BenchServers servers, Map<String, String> settings, int rows, Deadline deadline) {
        this.servers = servers;
        this.settings = settings;
        this.workload = new Workload(rows, KEYS, 1);
        this.deadline = deadline;
    }

    /**
     * The bare producer holds the whole workload. A heap that grows or is half full would be collected while it is
     * timed. The heap is used before the clock starts, so all sides get memory that the kernel has already provided.
     */
    static List<String> jvmOptions(int rows) {
        String heap = rows > MANY ? "4g" : "2g";
        return List.of("-Xms" + heap, "-Xmx" + heap, "-XX:+AlwaysPreTouch");
    }

    private List<String> jvmOptions() {
        return jvmOptions(workload.events());
    }

    /** Adds the bare producer and the relay in both modes. */
    RelayRounds withRelay(Relays relays) throws SQLException, IOException {
        sides.add(bareProducer());
        sides.add(new RelaySide(RelaySide.LABEL, relays, workload.events(), jvmOptions()));
        sides.add(new ExactlyOnceSide(ExactlyOnceSide.LABEL, relays, workload.events(), jvmOptions()));
        servers.execute("truncate outbox_event");
        outboxes.add(BenchServers.DATABASE);
        return this;
    }

    private BareProducerSide bareProducer() throws IOException {
        return new BareProducerSide(workload, TOPIC, settings, jvmOptions(), servers.folder());
    }

    /** Sends all events once without counting it: a broker that has just been started is slower. */
    void warmUpBroker() throws IOException, InterruptedException {
        Console.say("warming up the broker");
        servers.topics().recreate(TOPIC, PARTITIONS);
        bareProducer().run(deadline);
    }

    /** Adds the relay of another jar in both modes, each next to this relay, with a database of its own. */
    RelayRounds withBaseline(Path jar) throws SQLException {
        servers.execute("drop database if exists " + BASELINE_DATABASE);
        servers.postgres().createDatabase(BASELINE_DATABASE);
        Relays relays = new Relays(servers.servers(), jar, BASELINE_DATABASE);
        relays.migrate();
        Relays named = relays.with("twinbox.relay.name", "baseline");
        sides.add(2, new RelaySide(BASELINE, named, workload.events(), jvmOptions()));
        sides.add(new ExactlyOnceSide(BASELINE_EXACTLY_ONCE, named, workload.events(), jvmOptions()));
        outboxes.add(BASELINE_DATABASE);
        return this;
    }

    /** Fills the outboxes, at the same time, and measures a plain {@code COPY} of the first one. */
    RelayRounds load() throws SQLException, IOException, InterruptedException {
        Console.say(String.format(
                Locale.ROOT,
                "loading %,d committed rows of %d bytes into %s",
                workload.events(),
                Workload.PAYLOAD_BYTES,
                outboxes));
        ExecutorService threads = Executors.newFixedThreadPool(outboxes.size());
        try {
            for (Future<?> loaded :
                    threads.invokeAll(outboxes.stream().map(this::loading).toList())) {
                loaded.get();
            }
        } catch (ExecutionException e) {
            throw new InvalidRunException("the rows could not be loaded: " + e.getCause(), e);
        } finally {
            threads.shutdownNow();
        }
        plain = PlainCopy.measure(servers, workload.events());
        return this;
    }

    private Callable<Void> loading(String database) {
        return () -> {
            try (Connection connection = servers.postgres().connect(database)) {
                OutboxBacklog.load(connection, EventTable.TWINBOX, workload, TOPIC);
            }
            return null;
        };
    }

    /** Adds other ways out of a table. */
    RelayRounds withOthers() throws SQLException, IOException, InterruptedException {
        SkipLockedSide skipLocked = new SkipLockedSide(
                servers.postgres(), BenchServers.DATABASE, workload.events(), settings, jvmOptions(), servers.folder());
        skipLocked.load(workload, TOPIC);
        sides.add(skipLocked);
        DebeziumSide debezium = new DebeziumSide(
                servers,
                servers.servers().installation().file(BuiltFile.BENCH_DEBEZIUM),
                workload.events(),
                settings,
                jvmOptions());
        debezium.load(workload, TOPIC, deadline);
        sides.add(debezium);
        return this;
    }

    /** Each side in its turn, several times. */
    RelayRounds run(int rounds) throws SQLException, IOException, InterruptedException {
        for (int round = 1; round <= rounds; round++) {
            for (PublishingSide side : sides) {
                measure(side, round);
            }
        }
        return this;
    }

    private void measure(PublishingSide side, int round) throws SQLException, IOException, InterruptedException {
        servers.topics().recreate(TOPIC, PARTITIONS);
        side.prepare();
        ProcessorTime before = ProcessorTime.withSenders(servers);
        try (ProcessorSamples samples = ProcessorSamples.start(servers)) {
            Timed timed = side.run(deadline);
            ProcessorTime spent = ProcessorTime.withSenders(servers).since(before);
            Instant begun = timed.begun();
            ProcessorTime inside = begun == null ? null : samples.between(begun, begun.plus(timed.took()));
            requireLonger(
                    side,
                    timed.took(),
                    TopicCheck.check(servers.bootstrapServers(), TOPIC, workload, TopicCheck.Order.BY_KEY, deadline));
            runs.add(side.label(), round, workload.events(), timed.took(), spent, inside);
        }
    }

    /** The records confirm it: they were handed to the producer within the reported time. */
    private static void requireLonger(PublishingSide side, Duration reported, Duration span) {
        if (reported.compareTo(span) < 0) {
            throw new InvalidRunException(side.label() + " reports " + reported.toMillis()
                    + " ms up to the last acknowledgement, but the timestamps of its records are " + span.toMillis()
                    + " ms apart");
        }
    }

    int rows() {
        return workload.events();
    }

    /** Median rate of a side, events per second. */
    double rate(String side) {
        return runs.median(side);
    }

    double ratio(String side, String other) {
        return rate(side) / rate(other);
    }

    /** What the relay and PostgreSQL need more than the bare producer, in microseconds of processor time per event. */
    double extraMicros(String relay) {
        return runs.medianMicros(relay) - runs.medianMicros(BareProducerSide.LABEL);
    }

    Map<String, Double> rates() {
        Map<String, Double> rates = new LinkedHashMap<>();
        sides.forEach(side -> rates.put(side.label(), (double) Math.round(rate(side.label()))));
        return rates;
    }

    /** All figures as text; the processor time is that of the timed part. */
    String table() {
        String lines = String.format(Locale.ROOT, "%,d events%n", rows())
                + runs.table()
                + "plain "
                + plain.told()
                + System.lineSeparator()
                + extra(RelaySide.LABEL);
        return hasBaseline()
                ? lines
                        + extra(BASELINE)
                        + ratioLine(RelaySide.LABEL, BASELINE)
                        + ratioLine(ExactlyOnceSide.LABEL, BASELINE_EXACTLY_ONCE)
                : lines;
    }

    private String extra(String relay) {
        return String.format(
                Locale.ROOT,
                "CPU of %s and PostgreSQL beyond the producer alone: %.1f µs/event%n",
                relay,
                extraMicros(relay));
    }

    private String ratioLine(String relay, String other) {
        String each = runs.ratios(relay, other).stream()
                .map(ratio -> String.format(Locale.ROOT, " %.3f", ratio))
                .collect(Collectors.joining());
        return String.format(
                Locale.ROOT,
                "%s / %s, by round:%s   median %.3f%n",
                relay,
                other,
                each,
                runs.medianRatio(relay, other));
    }

    boolean hasBaseline() {
        return sides.stream().anyMatch(side -> side.label().equals(BASELINE));
    }

    /** What both numbers of events have in common. */
    JsonObjectBuilder json() {
        return Json.createObjectBuilder()
                .add("producer_per_s", Math.round(rate(BareProducerSide.LABEL)))
                .add("relay_per_s", Math.round(rate(RelaySide.LABEL)))
                .add("exactly_once_per_s", Math.round(rate(ExactlyOnceSide.LABEL)))
                .add("ratio", Report.rounded(ratio(RelaySide.LABEL, BareProducerSide.LABEL)))
                .add("exactly_once_ratio", Report.rounded(ratio(ExactlyOnceSide.LABEL, BareProducerSide.LABEL)))
                .add("extra_cpu_us_per_event", Report.rounded(extraMicros(RelaySide.LABEL)))
                .add("plain_copy", plain.json())
                .add("runs", runs.json())
                .add("rows", rows())
                .add("jvm_options", String.join(" ", jvmOptions()));
    }

    /** The relay in comparison with the baseline: ratios within each round, and their median. */
    JsonObjectBuilder baselineJson() {
        return Json.createObjectBuilder()
                .add("relay_per_s", Math.round(rate(BASELINE)))
                .add("exactly_once_per_s", Math.round(rate(BASELINE_EXACTLY_ONCE)))
                .add("ratio", Report.rounded(runs.medianRatio(RelaySide.LABEL, BASELINE)))
                .add("ratios", ratios(RelaySide.LABEL, BASELINE))
                .add(
                        "exactly_once_ratio",
                        Report.rounded(runs.medianRatio(ExactlyOnceSide.LABEL, BASELINE_EXACTLY_ONCE)))
                .add("exactly_once_ratios", ratios(ExactlyOnceSide.LABEL, BASELINE_EXACTLY_ONCE))
                .add("extra_cpu_us_per_event", Report.rounded(extraMicros(BASELINE)))
                .add("extra_cpu_ratio", Report.rounded(extraMicros(RelaySide.LABEL) / extraMicros(BASELINE)));
    }

    private JsonArrayBuilder ratios(String relay, String other) {
        JsonArrayBuilder array = Json.createArrayBuilder();
        runs.ratios(relay, other).forEach(ratio -> array.add(Report.rounded(ratio)));
        return array;
    }
}
