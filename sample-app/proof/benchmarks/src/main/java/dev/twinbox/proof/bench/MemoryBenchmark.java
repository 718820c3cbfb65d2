package dev.twinbox.proof.bench;

import dev.twinbox.fixtures.RelayProcess;
import dev.twinbox.proof.bench.report.Console;
import dev.twinbox.proof.bench.report.Plot;
import dev.twinbox.proof.bench.report.Report;
import dev.twinbox.proof.landscape.Installation;
import dev.twinbox.proof.landscape.Machine;
import jakarta.json.Json;
import jakarta.json.JsonObject;
import jakarta.json.JsonObjectBuilder;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Whether the relay's memory depends on the backlog. It publishes ten million small rows with a heap of 64 MiB, and 300
 * rows of 8 MiB with a heap of 256 MiB. An OutOfMemoryError ends the process, and so the run.
 */
final class MemoryBenchmark implements Benchmark {

    private static final int PARTITIONS = 8;
    private static final String TOPIC = "bench-memory";
    private static final int ROWS_PER_LARGE_ROW = 10_000_000 / 300;
    private static final int FEWEST_LARGE = 20;
    private static final int MAX_REQUEST_BYTES = LargeEvents.PAYLOAD_BYTES + (1 << 20);
    private static final Duration POLL = Duration.ofMillis(20);
    private static final double REQUIRED_FIRST_EVENT_SECONDS = 10;

    private final Installation files;
    private final BulkEvents small;
    private final LargeEvents large;
    private final Deadline deadline;

    MemoryBenchmark(Installation files, int rows, Deadline deadline) {
        this.files = files;
        this.small = new BulkEvents(rows);
        this.large = new LargeEvents(Math.max(FEWEST_LARGE, rows / ROWS_PER_LARGE_ROW));
        this.deadline = deadline;
    }

    /**
     * The result of one backlog.
     *
     * @param firstEventSeconds from the start of the process to the first record on the topic
     * @param seconds until all events were acknowledged
     * @param heapPeakMib the largest heap after a garbage collection
     */
    private record Measured(
            String label, int events, int heapMib, double firstEventSeconds, double seconds, int heapPeakMib) {

        JsonObjectBuilder json() {
            return Json.createObjectBuilder()
                    .add("backlog", label)
                    .add("events", events)
                    .add("heap_mib", heapMib)
                    .add("heap_peak_mib", heapPeakMib)
                    .add("first_event_s", firstEventSeconds)
                    .add("seconds", seconds);
        }

        String line() {
            return String.format(
                    Locale.ROOT,
                    "%-24s -Xmx%dm   first event %6.2f s   all %8.1f s   heap after GC at most %d MiB%n",
                    label,
                    heapMib,
                    firstEventSeconds,
                    seconds,
                    heapPeakMib);
        }
    }

    @Override
    public Report run() throws SQLException, IOException {
        try (BenchServers servers = BenchServers.start(files, deadline)) {
            Relays relays =
                    servers.relays().with("twinbox.relay.kafka.max.request.size", Integer.toString(MAX_REQUEST_BYTES));
            relays.migrate();
            double load = Machine.load();
            Console.say(String.format(Locale.ROOT, "loading %,d small rows", small.events()));
            small.load(servers, TOPIC);
            Measured many = publish(servers, relays, small, "small rows", 64);
            servers.execute("truncate outbox_event");
            Console.say(String.format(Locale.ROOT, "loading %,d rows of 8 MiB", large.events()));
            try (Connection connection = servers.connect()) {
                large.load(connection, TOPIC);
            }
            Measured big = publish(servers, relays, large, "rows of 8 MiB", 256);
            return report(servers, many, big, load);
        }
    }

    private Measured publish(BenchServers servers, Relays relays, ExpectedEvents events, String label, int heapMib)
            throws SQLException, IOException {
        servers.execute("vacuum (analyze) outbox_event");
        relays.forgetPosition();
        servers.topics().recreate(TOPIC, PARTITIONS, Map.of("max.message.bytes", Integer.toString(MAX_REQUEST_BYTES)));
        Path heapLog = servers.folder().resolve("heap-" + heapMib + ".log");
        Console.say("publishing them with -Xmx" + heapMib + "m");
        long start = System.nanoTime();
        try (RelayProcess relay = relays.start(
                List.of("-Xmx" + heapMib + "m", "-XX:+ExitOnOutOfMemoryError", HeapLog.jvmOption(heapLog)))) {
            long first = deadline.await("the first event", POLL, () -> {
                if (!relay.isAlive()) {
                    throw new InvalidRunException("the relay ended by itself:\n" + relay.log());
                }
                return servers.topics().records(TOPIC, PARTITIONS) > 0;
            });
            RelayMetrics.awaitAcknowledged(relay, events.events(), deadline);
            long last = System.nanoTime();
            Relays.stop(relay);
            if (relay.log().contains("OutOfMemoryError")) {
                throw new InvalidRunException("an OutOfMemoryError with -Xmx" + heapMib + "m:\n" + relay.log());
            }
            TopicCheck.check(servers.bootstrapServers(), TOPIC, events, TopicCheck.Order.BY_KEY, deadline);
            return new Measured(
                    label,
                    events.events(),
                    heapMib,
                    Report.rounded((first - start) / 1e9),
                    Report.rounded((last - start) / 1e9),
                    HeapLog.peakAfterCollection(heapLog));
        }
    }

    private Report report(BenchServers servers, Measured many, Measured big, double load) throws SQLException {
        double first = Math.max(many.firstEventSeconds, big.firstEventSeconds);
        JsonObject figures = Json.createObjectBuilder()
                .add("first_event_s", first)
                .add("first_event_s_required", REQUIRED_FIRST_EVENT_SECONDS)
                .add("heap_peak_mib", many.heapPeakMib)
                .add("heap_peak_large_mib", big.heapPeakMib)
                .add("backlogs", Json.createArrayBuilder().add(many.json()).add(big.json()))
                .add("rows", many.events)
                .add("postgresql", servers.postgresJson())
                .add("load_before", load)
                .build();
        Map<String, Double> peaks = new LinkedHashMap<>();
        for (Measured each : List.of(many, big)) {
            peaks.put(each.label + ", -Xmx" + each.heapMib + "m", (double) each.heapPeakMib);
        }
        return new Report(
                "memory",
                figures,
                many.line() + big.line(),
                Plot.bars("The relay's heap under a backlog", "MiB after garbage collection, at most", peaks),
                List.of(Report.Requirement.atMost("first event, s", first, REQUIRED_FIRST_EVENT_SECONDS)));
    }
}
