package dev.twinbox.proof.bench;

import dev.twinbox.fixtures.RelayProcess;
import dev.twinbox.proof.bench.report.Console;
import dev.twinbox.proof.bench.report.Plot;
import dev.twinbox.proof.bench.report.Report;
import dev.twinbox.proof.landscape.Installation;
import dev.twinbox.proof.landscape.Machine;
import jakarta.json.Json;
import jakarta.json.JsonObject;
import java.io.IOException;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Whether a poll takes longer with ten million published rows in the table. */
final class HistoryBenchmark implements Benchmark {

    private static final int PARTITIONS = 8;
    private static final int KEYS = 10_000;
    private static final String TOPIC = "bench-history";
    private static final String BULK_TOPIC = "bench-history-bulk";
    private static final List<String> JVM_OPTIONS = List.of("-Xms512m", "-Xmx512m");
    private static final int EVENTS_PER_SECOND = 500;
    /** At ten million rows, a minute before and a minute after are measured. */
    private static final int ROWS_FOR_A_SECOND = 10_000_000 / 60;

    private static final int SHORTEST_SECONDS = 4;
    private static final double LOGGED_SHARE = 0.25;
    private static final List<String> POLLS = List.of("-- relay: open window");
    private static final double REQUIRED_GROWTH = 1.3;

    private final Installation files;
    private final BulkEvents history;
    private final int phase;
    private final Workload workload;
    private final Deadline deadline;

    HistoryBenchmark(Installation files, int rows, Deadline deadline) {
        this.files = files;
        this.history = new BulkEvents(rows);
        this.phase = Math.max(SHORTEST_SECONDS, rows / ROWS_FOR_A_SECOND) * EVENTS_PER_SECOND;
        this.workload = new Workload(3 * phase, KEYS, 1);
        this.deadline = deadline;
    }

    /** When a light load ran, by the clock of PostgreSQL's log. */
    private record Span(long fromMillis, long toMillis) {}

    @Override
    public Report run() throws SQLException, IOException {
        try (BenchServers servers = BenchServers.start(files, StatementTimes.SERVER_SETTINGS, deadline)) {
            Relays relays = servers.relays();
            relays.migrate();
            StatementTimes.measure(servers, LOGGED_SHARE);
            servers.topics().create(TOPIC, PARTITIONS);
            servers.topics().create(BULK_TOPIC, PARTITIONS);
            double load = Machine.load();
            try (RelayProcess relay = relays.with("twinbox.relay.database.user", StatementTimes.ROLE)
                    .start(JVM_OPTIONS)) {
                relay.awaitReady(deadline.remaining("the relay"));
                lightLoad(servers, relay, 0, "warming up");
                Span before = lightLoad(servers, relay, 1, "measuring before");
                publishHistory(servers, relay);
                Span after = lightLoad(servers, relay, 2, "measuring after");
                Relays.stop(relay);
                TopicCheck.check(servers.bootstrapServers(), BULK_TOPIC, history, TopicCheck.Order.BY_KEY, deadline);
                TopicCheck.check(servers.bootstrapServers(), TOPIC, workload, TopicCheck.Order.ANY, deadline);
                return report(servers, before, after, load);
            }
        }
    }

    private Span lightLoad(BenchServers servers, RelayProcess relay, int number, String what) throws SQLException {
        Console.say(what + ", " + EVENTS_PER_SECOND + "/s");
        long from = System.currentTimeMillis();
        new OpenLoop(servers, EventTable.TWINBOX, workload, TOPIC, deadline)
                .run(new OpenLoop.Schedule(number * phase, phase, EVENTS_PER_SECOND, 1))
                .requireOnTime();
        long to = System.currentTimeMillis();
        long published = (number + 1L) * phase + (number == 2 ? history.events() : 0);
        RelayMetrics.awaitAcknowledged(relay, published, deadline);
        return new Span(from, to);
    }

    private void publishHistory(BenchServers servers, RelayProcess relay) throws SQLException {
        Console.say(String.format(Locale.ROOT, "publishing %,d rows, which stay in the table", history.events()));
        history.load(servers, BULK_TOPIC);
        RelayMetrics.awaitAcknowledged(relay, 2L * phase + history.events(), deadline);
        // Vacuumed here: otherwise autovacuum would run while polls are timed.
        servers.execute("vacuum (analyze) outbox_event");
        servers.execute("checkpoint");
    }

    private static double poll(StatementTimes times, Span span) {
        return times.medianMillis(POLLS, span.fromMillis, span.toMillis)
                .orElseThrow(() -> new InvalidRunException("PostgreSQL logged no statement " + POLLS));
    }

    private Report report(BenchServers servers, Span before, Span after, double load) throws SQLException, IOException {
        StatementTimes times = StatementTimes.in(servers.postgres().logFile());
        double first = poll(times, before);
        double last = poll(times, after);
        JsonObject figures = Json.createObjectBuilder()
                .add("poll_ms_before", first)
                .add("poll_ms_after", last)
                .add("ratio", Report.rounded(last / first))
                .add("ratio_required", REQUIRED_GROWTH)
                .add("rows", history.events())
                .add("events_per_s", EVENTS_PER_SECOND)
                .add("jvm_options", String.join(" ", JVM_OPTIONS))
                .add("postgresql", servers.postgresJson())
                .add("load_before", load)
                .build();
        Map<String, Double> bars = new LinkedHashMap<>();
        bars.put("empty table", first);
        bars.put(String.format(Locale.ROOT, "%,d published rows", history.events()), last);
        return new Report(
                "history",
                figures,
                String.format(Locale.ROOT, "poll before %.3f ms, after %.3f ms%n", first, last),
                Plot.bars("A poll, medians in PostgreSQL", "milliseconds", bars),
                List.of(Report.Requirement.atMost("poll, after / before", last / first, REQUIRED_GROWTH)));
    }
}
