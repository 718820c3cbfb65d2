package dev.twinbox.proof.bench;

import dev.twinbox.fixtures.RelayProcess;
import dev.twinbox.proof.bench.report.Console;
import dev.twinbox.proof.bench.report.Plot;
import dev.twinbox.proof.bench.report.Report;
import dev.twinbox.proof.landscape.Installation;
import dev.twinbox.proof.landscape.Machine;
import jakarta.json.Json;
import jakarta.json.JsonArrayBuilder;
import jakarta.json.JsonObject;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Whether the first record after an outage comes as soon with ten million unsent rows as with ten thousand, and whether
 * the lag is counted as fast. The rows are freshly written and not vacuumed. Then once more while a foreign transaction
 * holds xmin.
 *
 * <p>The clock starts with the relay's first look for unsent rows, by PostgreSQL's log. It stops at the timestamp of the
 * first record, which the relay's producer gives it. So the start of a JVM does not count.
 */
final class BacklogBenchmark implements Benchmark {

    private static final int ROUNDS = 5;
    private static final int PARTITIONS = 8;
    private static final int SENT_BEFORE = 100;
    private static final String TOPIC = "bench-backlog";
    private static final List<String> JVM_OPTIONS = List.of("-Xms512m", "-Xmx512m");
    private static final List<String> OPENING = List.of("-- relay: open window");
    private static final List<String> COUNTING = List.of("-- relay: count backlog");
    private static final String LAG = "twinbox_relay_lag_events";
    private static final Duration POLL = Duration.ofMillis(50);
    private static final double REQUIRED_GROWTH = 1.5;

    private static final String HOLD = """
            -- bench: hold xmin
            select pg_current_xact_id()""";

    private static final String LAST_SAVE = """
            -- bench: the last saved position
            select max(number) from outbox_position""";

    private static final String GO_BACK = """
            -- bench: back to an earlier position
            delete from outbox_position where number > %d""";

    private final Installation files;
    private final List<Integer> sizes;
    private final int rounds;
    private final Deadline deadline;

    BacklogBenchmark(Installation files, int rows, Deadline deadline) {
        this(files, rows, ROUNDS, deadline);
    }

    /**
     * @param rows the largest backlog; the others are a hundredth and a thousandth of it
     * @param rounds how often each is measured
     */
    BacklogBenchmark(Installation files, int rows, int rounds, Deadline deadline) {
        this.files = files;
        this.sizes = List.of(Math.max(1, rows / 1_000), Math.max(1, rows / 100), rows);
        this.rounds = rounds;
        this.deadline = deadline;
    }

    private enum State {
        FRESH,
        HELD_XMIN;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', ' ');
        }
    }

    /** Milliseconds from the first look to the first record, and of one count in PostgreSQL. */
    private record Times(double firstMillis, double lagMillis) {}

    /** The medians of one backlog. */
    private record Measured(State state, int rows, Times median) {}

    @Override
    public Report run() throws SQLException, IOException {
        try (BenchServers servers = BenchServers.start(files, StatementTimes.SERVER_SETTINGS, deadline)) {
            servers.relays().migrate();
            StatementTimes.measure(servers, 1);
            Relays relays = servers.relays().with("twinbox.relay.database.user", StatementTimes.ROLE);
            double load = Machine.load();
            List<Measured> all = new ArrayList<>();
            for (State state : State.values()) {
                for (int rows : sizes) {
                    all.add(measure(servers, relays, state, rows));
                }
            }
            return report(servers, all, load);
        }
    }

    private Measured measure(BenchServers servers, Relays relays, State state, int rows)
            throws SQLException, IOException {
        servers.execute("truncate outbox_event");
        relays.forgetPosition();
        long position = positionBefore(servers, relays);
        try (Connection foreign = servers.connect()) {
            if (state == State.HELD_XMIN) {
                foreign.setAutoCommit(false);
                foreign.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
                execute(foreign, HOLD);
            }
            Console.say(String.format(Locale.ROOT, "%s: loading %,d rows", state, rows));
            new BulkEvents(rows).load(servers, TOPIC);
            servers.execute("checkpoint");
            List<Times> times = new ArrayList<>();
            for (int round = 1; round <= rounds; round++) {
                times.add(measureOnce(servers, relays, position));
            }
            Times median = new Times(median(times, Times::firstMillis), median(times, Times::lagMillis));
            Console.say(line(new Measured(state, rows, median)));
            return new Measured(state, rows, median);
        }
    }

    /** A relay has worked before, as before each outage. Returns the number of its last position. */
    private long positionBefore(BenchServers servers, Relays relays) throws SQLException {
        servers.topics().recreate(TOPIC, PARTITIONS);
        new BulkEvents(SENT_BEFORE).load(servers, TOPIC);
        try (RelayProcess relay = relays.start(JVM_OPTIONS)) {
            RelayMetrics.awaitAcknowledged(relay, SENT_BEFORE, deadline);
            Relays.stop(relay);
        }
        try (Connection connection = servers.connect();
                Statement statement = connection.createStatement();
                var row = statement.executeQuery(LAST_SAVE)) {
            row.next();
            return row.getLong(1);
        }
    }

    private Times measureOnce(BenchServers servers, Relays relays, long position) throws SQLException, IOException {
        servers.topics().recreate(TOPIC, PARTITIONS);
        servers.execute(GO_BACK.formatted(position));
        long from = System.currentTimeMillis();
        try (RelayProcess relay = relays.start(JVM_OPTIONS)) {
            deadline.await("the first record and the lag", POLL, () -> {
                if (!relay.isAlive()) {
                    throw new InvalidRunException("the relay ended by itself:\n" + relay.log());
                }
                RelayMetrics metrics = RelayMetrics.of(relay);
                return servers.topics().records(TOPIC, PARTITIONS) > 0
                        && !metrics.isEmpty()
                        && !Double.isNaN(metrics.value(LAG));
            });
            Relays.stop(relay);
        }
        long to = System.currentTimeMillis();
        StatementTimes times = StatementTimes.in(servers.postgres().logFile());
        double lag = times.medianMillis(COUNTING, from, to).orElseThrow(() -> notLogged(COUNTING));
        @Nullable Double look = times.firstStartMillis(OPENING, from, to);
        double first = Records.firstTimestamp(servers.bootstrapServers(), TOPIC, deadline)
                - Objects.requireNonNull(look, () -> notLogged(OPENING).getMessage());
        return new Times(first, lag);
    }

    private static InvalidRunException notLogged(List<String> statements) {
        return new InvalidRunException("PostgreSQL logged no statement " + statements);
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static double median(List<Times> times, ToDoubleFunction<Times> value) {
        List<Double> sorted = times.stream().map(value::applyAsDouble).sorted().toList();
        return Report.rounded(sorted.get((sorted.size() - 1) / 2));
    }

    private static String line(Measured each) {
        return String.format(
                Locale.ROOT,
                "%-10s %,12d rows   first record after %9.1f ms   count %9.3f ms",
                each.state,
                each.rows,
                each.median.firstMillis,
                each.median.lagMillis);
    }

    private static double growth(List<Measured> all, State state, ToDoubleFunction<Times> value) {
        List<Measured> ofState =
                all.stream().filter(each -> each.state == state).toList();
        return value.applyAsDouble(ofState.get(ofState.size() - 1).median) / value.applyAsDouble(ofState.get(0).median);
    }

    private Report report(BenchServers servers, List<Measured> all, double load) throws SQLException {
        StringBuilder table = new StringBuilder();
        all.forEach(each -> table.append(line(each)).append(System.lineSeparator()));
        return new Report("backlog", figures(servers, all, load), table.toString(), plot(all), requirements(all));
    }

    private JsonObject figures(BenchServers servers, List<Measured> all, double load) throws SQLException {
        JsonArrayBuilder backlogs = Json.createArrayBuilder();
        for (Measured each : all) {
            backlogs.add(Json.createObjectBuilder()
                    .add("state", each.state.toString())
                    .add("rows", each.rows)
                    .add("first_record_ms", each.median.firstMillis)
                    .add("lag_ms", each.median.lagMillis));
        }
        return Json.createObjectBuilder()
                .add("first_record_ratio", Report.rounded(growth(all, State.FRESH, Times::firstMillis)))
                .add("lag_ratio", Report.rounded(growth(all, State.FRESH, Times::lagMillis)))
                .add("first_record_ratio_held", Report.rounded(growth(all, State.HELD_XMIN, Times::firstMillis)))
                .add("lag_ratio_held", Report.rounded(growth(all, State.HELD_XMIN, Times::lagMillis)))
                .add("ratio_required", REQUIRED_GROWTH)
                .add("backlogs", backlogs)
                .add("rounds", rounds)
                .add("jvm_options", String.join(" ", JVM_OPTIONS))
                .add("postgresql", servers.postgresJson())
                .add("load_before", load)
                .build();
    }

    private Plot plot(List<Measured> all) {
        Map<String, List<Double>> lines = new LinkedHashMap<>();
        for (Measured each : all) {
            lines.computeIfAbsent(each.state + ", first record", key -> new ArrayList<>())
                    .add(each.median.firstMillis);
            lines.computeIfAbsent(each.state + ", count", key -> new ArrayList<>())
                    .add(each.median.lagMillis);
        }
        List<String> labels = sizes.stream()
                .map(rows -> String.format(Locale.ROOT, "%,d", rows))
                .toList();
        return Plot.lines("A relay that starts with unsent rows", "unsent rows", "milliseconds", labels, lines);
    }

    private static List<Report.Requirement> requirements(List<Measured> all) {
        List<Report.Requirement> requirements = new ArrayList<>();
        for (State state : State.values()) {
            requirements.add(Report.Requirement.atMost(
                    state + ": first record, most / fewest rows",
                    growth(all, state, Times::firstMillis),
                    REQUIRED_GROWTH));
            requirements.add(Report.Requirement.atMost(
                    state + ": count, most / fewest rows", growth(all, state, Times::lagMillis), REQUIRED_GROWTH));
        }
        return requirements;
    }
}
