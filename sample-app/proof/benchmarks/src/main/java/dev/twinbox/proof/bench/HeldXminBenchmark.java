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
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.stream.IntStream;

/**
 * Whether publishing gets slower while another transaction keeps vacuum from removing rows. It measures the time of a
 * poll and of a saved position in each minute, and the lag. SKIP LOCKED with DELETE gets the same load.
 */
final class HeldXminBenchmark implements Benchmark {

    private static final int ROWS_PER_TRANSACTION = 100;
    private static final int KEYS = 10_000;
    private static final int PARTITIONS = 8;
    private static final String TOPIC = "bench-held-xmin";
    private static final List<String> JVM_OPTIONS = List.of("-Xms512m", "-Xmx512m");
    /** A twentieth at full size: enough for some hundred statements of each kind per minute. */
    private static final double SECONDS_LOGGED_OF_A_MINUTE = 3;
    /** Ten minutes of records would fill a disk. Records that have been read need not be kept. */
    private static final Map<String, String> KEEP_LITTLE =
            Map.of("retention.bytes", Integer.toString(256 << 20), "segment.bytes", Integer.toString(64 << 20));

    private static final double REQUIRED_GROWTH = 1.3;
    private static final double REQUIRED_LAG_SECONDS = 1;

    private static final String HOLD = """
            -- bench: hold xmin
            select pg_current_xact_id()""";

    private static final String IS_HELD = """
            -- bench: is xmin still held
            select backend_xid is not null from pg_stat_activity where pid = ?""";

    private static final Side TWINBOX = new Side(
            "twinbox",
            EventTable.TWINBOX,
            List.of("-- relay: open window", "-- relay: next page of the window"),
            List.of("-- relay: save position"));
    private static final Side SKIP_LOCKED = new Side(
            "skip locked + delete", EventTable.SKIP_LOCKED, List.of("-- bench: skip locked, poll"), List.of("COMMIT"));

    private final Installation files;
    private final int minutes;
    private final Duration minute;
    private final int eventsPerSecond;
    private final Deadline deadline;

    HeldXminBenchmark(Installation files, int minutes, Deadline deadline) {
        this(files, new Plan(minutes, Duration.ofMinutes(1), 20_000), deadline);
    }

    HeldXminBenchmark(Installation files, Plan plan, Deadline deadline) {
        this.files = files;
        this.minutes = plan.minutes;
        this.minute = plan.minute;
        this.eventsPerSecond = plan.eventsPerSecond;
        this.deadline = deadline;
    }

    /** @param minute how long a minute is; tests use shorter ones */
    record Plan(int minutes, Duration minute, int eventsPerSecond) {}

    /** What is measured, and the first line of its statements in PostgreSQL's log. */
    private record Side(String label, EventTable table, List<String> polls, List<String> saves) {}

    /** Medians of a poll and of a save, in milliseconds, and the longest lag in seconds, of one minute. */
    private record Minute(double pollMillis, double saveMillis, double lagSeconds) {}

    @Override
    public Report run() throws SQLException, IOException, InterruptedException {
        try (BenchServers servers = BenchServers.start(files, StatementTimes.SERVER_SETTINGS, deadline)) {
            Relays relays = servers.relays();
            relays.migrate();
            Map<String, String> settings = ProducerSettings.ofRelay(relays, servers, deadline);
            servers.execute(EventTable.SKIP_LOCKED.ddl());
            StatementTimes.measure(servers, Math.min(1, SECONDS_LOGGED_OF_A_MINUTE / minute.toSeconds()));
            double load = Machine.load();
            List<Minute> twinbox = twinbox(servers, relays.with("twinbox.relay.database.user", StatementTimes.ROLE));
            servers.execute("truncate outbox_event");
            // A poll of seconds is rare, and must not be missed.
            StatementTimes.log(servers, 1);
            List<Minute> skipLocked = skipLocked(servers, settings);
            return report(servers, twinbox, skipLocked, load);
        }
    }

    private List<Minute> twinbox(BenchServers servers, Relays relays) throws SQLException, IOException {
        try (RelayProcess relay = relays.start(JVM_OPTIONS)) {
            relay.awaitReady(deadline.remaining("the relay"));
            List<Minute> measured = measure(servers, TWINBOX, () -> {
                if (!relay.isAlive()) {
                    throw new InvalidRunException("the relay ended by itself:\n" + relay.log());
                }
            });
            Relays.stop(relay);
            return measured;
        }
    }

    private List<Minute> skipLocked(BenchServers servers, Map<String, String> settings)
            throws SQLException, IOException {
        SkipLockedSide side = new SkipLockedSide(
                servers.postgres(), BenchServers.DATABASE, 0, settings, JVM_OPTIONS, servers.folder());
        try (JavaProgram.Running poller = side.startForEver(StatementTimes.ROLE)) {
            return measure(servers, SKIP_LOCKED, poller::requireAlive);
        }
    }

    private List<Minute> measure(BenchServers servers, Side side, Runnable requireAlive)
            throws SQLException, IOException {
        OpenLoop.Schedule warmUp = schedule(0, minute.dividedBy(3));
        OpenLoop.Schedule measured = schedule(warmUp.end(), minute.multipliedBy(minutes));
        Workload workload = new Workload(measured.end(), KEYS, 1);
        servers.topics().recreate(TOPIC, PARTITIONS, KEEP_LITTLE);
        OpenLoop applications = new OpenLoop(servers, side.table, workload, TOPIC, deadline);
        try (Arrivals arrivals = new Arrivals(servers.bootstrapServers(), TOPIC, workload);
                Connection foreign = servers.connect()) {
            Console.say(side.label + ": warming up");
            applications.run(warmUp);
            deadline.await("the warm-up's events", Duration.ofMillis(100), () -> arrivals.distinct() >= warmUp.end());
            int pid = hold(foreign);
            Console.say(side.label + ": a foreign transaction holds xmin; " + minutes + " minutes at " + eventsPerSecond
                    + "/s");
            long startMillis = System.currentTimeMillis();
            OpenLoop.Running run = applications.start(measured);
            if (side.equals(TWINBOX)) {
                run.await();
                run.requireOnTime();
            } else {
                // It may slow down the committing sessions. Then they commit less, which is a loss of its own.
                run.stopAtEnd();
            }
            long endNanos = System.nanoTime();
            requireHeld(servers, pid);
            requireAlive.run();
            if (side.equals(TWINBOX)) {
                deadline.await("the last events", Duration.ofMillis(100), () -> arrivals.distinct() >= measured.end());
            }
            StatementTimes times = StatementTimes.in(servers.postgres().logFile());
            return minutes(side, run, arrivals, times, startMillis, endNanos);
        }
    }

    private OpenLoop.Schedule schedule(int first, Duration length) {
        int transactions = (int) (length.toMillis() * eventsPerSecond / 1_000 / ROWS_PER_TRANSACTION);
        return new OpenLoop.Schedule(first, transactions * ROWS_PER_TRANSACTION, eventsPerSecond, ROWS_PER_TRANSACTION);
    }

    private static int hold(Connection foreign) throws SQLException {
        foreign.setAutoCommit(false);
        foreign.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        try (Statement statement = foreign.createStatement()) {
            statement.execute(HOLD);
            try (ResultSet row = statement.executeQuery("select pg_backend_pid()")) {
                row.next();
                return row.getInt(1);
            }
        }
    }

    private static void requireHeld(BenchServers servers, int pid) throws SQLException {
        try (Connection connection = servers.connect();
                var statement = connection.prepareStatement(IS_HELD)) {
            statement.setInt(1, pid);
            try (ResultSet row = statement.executeQuery()) {
                if (!row.next() || !row.getBoolean(1)) {
                    throw new InvalidRunException("the foreign transaction did not live until the end");
                }
            }
        }
    }

    private List<Minute> minutes(
            Side side, OpenLoop.Running run, Arrivals arrivals, StatementTimes times, long startMillis, long endNanos) {
        double[] lags = lags(run, arrivals, endNanos);
        List<Minute> all = new ArrayList<>();
        for (int i = 0; i < minutes; i++) {
            long from = startMillis + i * minute.toMillis();
            long to = from + minute.toMillis();
            Minute measured = new Minute(
                    median(times, side, side.polls, from, to), median(times, side, side.saves, from, to), lags[i]);
            Console.say(String.format(
                    Locale.ROOT,
                    "%s, minute %d: poll %.3f ms, save %.3f ms, lag at most %.3f s",
                    side.label,
                    i + 1,
                    measured.pollMillis,
                    measured.saveMillis,
                    measured.lagSeconds));
            all.add(measured);
        }
        return all;
    }

    /** A poll that takes longer than a minute is reported as a minute. */
    private double median(StatementTimes times, Side side, List<String> statements, long from, long to) {
        OptionalDouble median = times.medianMillis(statements, from, to);
        if (median.isEmpty() && side.equals(TWINBOX)) {
            throw new InvalidRunException("PostgreSQL logged no statement " + statements + " within " + (to - from)
                    + " ms: the relay saved or polled nothing, or its statements have other comments");
        }
        return median.orElse((double) minute.toMillis());
    }

    /**
     * The longest time from COMMIT to arrival, for the events of each minute. Events that did not arrive count until
     * the end.
     */
    private double[] lags(OpenLoop.Running run, Arrivals arrivals, long endNanos) {
        double[] lags = new double[minutes];
        OpenLoop.Schedule schedule = run.schedule();
        for (int number = schedule.first(); number < schedule.end(); number++) {
            if (!run.isCommitted(number)) {
                continue;
            }
            long arrived = arrivals.of(number) == 0 ? endNanos : arrivals.of(number);
            double lag = (arrived - run.committedAt(number)) / 1e9;
            int which = (int)
                    Math.min(minutes - 1, schedule.nanosFromStart(schedule.transactionOf(number)) / minute.toNanos());
            lags[which] = Math.max(lags[which], Math.round(lag * 1_000) / 1_000.0);
        }
        return lags;
    }

    private Report report(BenchServers servers, List<Minute> twinbox, List<Minute> skipLocked, double load)
            throws SQLException {
        Minute first = twinbox.get(0);
        Minute last = twinbox.get(minutes - 1);
        double lag = longestLag(twinbox);
        return new Report(
                "held-xmin",
                figures(servers, twinbox, skipLocked, load),
                table(TWINBOX, twinbox) + table(SKIP_LOCKED, skipLocked),
                plot(twinbox, skipLocked),
                List.of(
                        Report.Requirement.atMost(
                                "poll, last / first minute", last.pollMillis / first.pollMillis, REQUIRED_GROWTH),
                        Report.Requirement.atMost(
                                "save, last / first minute", last.saveMillis / first.saveMillis, REQUIRED_GROWTH),
                        Report.Requirement.atMost("longest lag, s", lag, REQUIRED_LAG_SECONDS)));
    }

    private JsonObject figures(BenchServers servers, List<Minute> twinbox, List<Minute> skipLocked, double load)
            throws SQLException {
        Minute first = twinbox.get(0);
        Minute last = twinbox.get(minutes - 1);
        return Json.createObjectBuilder()
                .add("poll_ms_first", first.pollMillis)
                .add("poll_ms_last", last.pollMillis)
                .add("save_ms_first", first.saveMillis)
                .add("save_ms_last", last.saveMillis)
                .add("lag_max_s", longestLag(twinbox))
                .add("skip_locked_poll_ms_first", skipLocked.get(0).pollMillis)
                .add("skip_locked_poll_ms_last", skipLocked.get(minutes - 1).pollMillis)
                .add("skip_locked_lag_max_s", longestLag(skipLocked))
                .add("growth_required", REQUIRED_GROWTH)
                .add("lag_max_s_required", REQUIRED_LAG_SECONDS)
                .add("minutes", json(twinbox))
                .add("skip_locked_minutes", json(skipLocked))
                .add("events_per_s", eventsPerSecond)
                .add("rows_per_transaction", ROWS_PER_TRANSACTION)
                .add("payload_bytes", Workload.PAYLOAD_BYTES)
                .add("jvm_options", String.join(" ", JVM_OPTIONS))
                .add("postgresql", servers.postgresJson())
                .add("load_before", load)
                .build();
    }

    private static double longestLag(List<Minute> measured) {
        return measured.stream().mapToDouble(Minute::lagSeconds).max().orElseThrow();
    }

    private static JsonArrayBuilder json(List<Minute> minutes) {
        JsonArrayBuilder array = Json.createArrayBuilder();
        for (Minute each : minutes) {
            array.add(Json.createObjectBuilder()
                    .add("poll_ms", each.pollMillis)
                    .add("save_ms", each.saveMillis)
                    .add("lag_max_s", each.lagSeconds));
        }
        return array;
    }

    private static String table(Side side, List<Minute> minutes) {
        StringBuilder table = new StringBuilder();
        for (int i = 0; i < minutes.size(); i++) {
            Minute each = minutes.get(i);
            table.append(String.format(
                    Locale.ROOT,
                    "%-22s minute %2d   poll %8.3f ms   save %8.3f ms   lag %9.3f s%n",
                    side.label,
                    i + 1,
                    each.pollMillis,
                    each.saveMillis,
                    each.lagSeconds));
        }
        return table.toString();
    }

    private Plot plot(List<Minute> twinbox, List<Minute> skipLocked) {
        Map<String, List<Double>> lines = new LinkedHashMap<>();
        lines.put("twinbox, poll", twinbox.stream().map(Minute::pollMillis).toList());
        lines.put("twinbox, save", twinbox.stream().map(Minute::saveMillis).toList());
        lines.put(
                "skip locked, poll", skipLocked.stream().map(Minute::pollMillis).toList());
        List<String> labels =
                IntStream.rangeClosed(1, minutes).mapToObj(Integer::toString).toList();
        return Plot.lines("While a foreign transaction holds xmin", "minute", "milliseconds", labels, lines);
    }
}
