package dev.twinbox.proof.bench;

import dev.twinbox.fixtures.PayaraMicro;
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
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * How much work gets done in the minute from a fault on, compared with the minute before. Work is an event that was
 * committed, published and applied. Events come at half the rate that this machine reached in the same run. Two relays
 * and two receivers run. A killed process is started again at once, as a supervisor does.
 */
final class RecoveryBenchmark implements Benchmark {

    private static final int KEYS = 10_000;
    private static final ReceiveSide SIDE = ReceiveSide.FAILING_KEY;

    /** The default. The consumer by hand, which is in the same application, has none. */
    private static final Map<String, String> SETTINGS = Map.of("twinbox.inbox.batch.size", "500");

    private static final List<String> RELAY_OPTIONS = List.of("-Xms256m", "-Xmx256m");
    private static final Duration POLL = Duration.ofMillis(200);
    private static final int MOST_EVENTS = 50_000_000;
    private static final int AS_FAST_AS_IT_CAN = Integer.MAX_VALUE;
    private static final double SHARE = 0.5;
    private static final int REPEATED_KILLS = 5;
    private static final Duration BETWEEN_KILLS = Duration.ofSeconds(15);
    private static final Duration POOL_HELD = Duration.ofSeconds(10);
    private static final double REQUIRED = 0.9;

    private static final HttpClient HTTP = HttpClient.newHttpClient();

    private static final String APPLIED = """
            -- bench: applied in a period
            select count(*) from applied_order
            where applied_at >= clock_timestamp() - make_interval(secs => ?)""";
    private static final String EXACT = """
            -- bench: each event once
            select count(*), count(distinct order_id) from applied_order""";
    private static final String KILL_BACKENDS = """
            -- bench: end all connections
            select count(pg_terminate_backend(pid)) from pg_stat_activity
            where backend_type = 'client backend' and pid <> pg_backend_pid()""";

    private final Installation files;
    private final Duration window;
    private final Deadline deadline;
    private final Workload workload = new Workload(MOST_EVENTS, KEYS, 1);

    /** @param seconds length of the periods that are compared, and of the measurement of what the machine can do */
    RecoveryBenchmark(Installation files, int seconds, Deadline deadline) {
        this.files = files;
        this.window = Duration.ofSeconds(seconds);
        this.deadline = deadline;
    }

    /** Events applied before and after a fault. */
    private record Measured(String fault, long before, long after) {
        double ratio() {
            return Report.rounded((double) after / before);
        }
    }

    /** Something that goes wrong. Returns at the moment from which on is counted. */
    @FunctionalInterface
    private interface Fault {
        void happen() throws SQLException, InterruptedException;
    }

    @Override
    public Report run() throws SQLException, IOException, InterruptedException {
        try (ReceiveStage stage = ReceiveStage.start(files, deadline);
                PayaraMicro one = stage.server(SETTINGS);
                PayaraMicro two = stage.server(SETTINGS);
                RelayProcess owner = stage.servers().relays().start(RELAY_OPTIONS);
                RelayProcess standby = stage.servers().relays().start(RELAY_OPTIONS)) {
            double load = Machine.load();
            Processes processes = new Processes(stage.servers(), List.of(one, two), List.of(owner, standby));
            Capacity capacity = calibrate(stage.servers());
            int perSecond = Math.max(1, (int) (capacity.perSecond * SHARE));
            Console.say(String.format(
                    Locale.ROOT,
                    "this machine applies %,.0f events/s; %,d/s from now on",
                    capacity.perSecond,
                    perSecond));
            List<Measured> measured = new ArrayList<>();
            try (SteadyInflow inflow =
                    SteadyInflow.start(stage.servers(), insert(), capacity.committed, perSecond, deadline)) {
                for (var each : processes.faults().entrySet()) {
                    measured.add(measure(stage.servers(), each.getKey(), each.getValue()));
                    processes.awaitRepaired();
                }
                requireExact(stage.servers(), capacity.committed + inflow.stop());
            }
            return report(stage.servers(), capacity.perSecond, perSecond, measured, load);
        }
    }

    /**
     * What the machine can do.
     *
     * @param committed events that were committed meanwhile
     */
    private record Capacity(double perSecond, int committed) {}

    private EventInsert insert() {
        return new EventInsert(EventTable.TWINBOX, workload, SIDE.topic());
    }

    /**
     * Measures what the machine can do: the second half of a time in which applications commit as fast as they can.
     */
    private Capacity calibrate(BenchServers servers) throws SQLException {
        try (SteadyInflow inflow = SteadyInflow.start(servers, insert(), 0, AS_FAST_AS_IT_CAN, deadline)) {
            deadline.await("the first applied event", POLL, () -> applied(servers) > 0);
            pass(window);
            double perSecond = appliedWithin(servers, window.dividedBy(2)) / (window.toMillis() / 2_000.0);
            int committed = inflow.stop();
            deadline.await("an empty outbox", POLL, () -> applied(servers) >= committed);
            return new Capacity(perSecond, committed);
        }
    }

    private Measured measure(BenchServers servers, String name, Fault fault) throws SQLException, InterruptedException {
        awaitNoLag(servers);
        pass(window);
        long before = appliedWithin(servers, window);
        fault.happen();
        pass(window);
        Measured measured = new Measured(name, before, appliedWithin(servers, window));
        Console.say(String.format(
                Locale.ROOT, "%s: %,d before, %,d after = %.3f", name, before, measured.after, measured.ratio()));
        return measured;
    }

    /** Waits until what was committed a moment ago is applied, so that one fault's backlog is not the next one's. */
    private void awaitNoLag(BenchServers servers) {
        deadline.await("the end of the backlog", POLL, () -> {
            long committed = number(servers, "select count(*) from outbox_event");
            return applied(servers) >= committed - KEYS / 10;
        });
    }

    private static void pass(Duration time) {
        OpenLoop.waitUntil(System.nanoTime() + time.toNanos());
    }

    private static long applied(BenchServers servers) {
        return number(servers, "select count(*) from applied_order");
    }

    private static long appliedWithin(BenchServers servers, Duration time) throws SQLException {
        try (Connection connection = servers.connect();
                PreparedStatement statement = connection.prepareStatement(APPLIED)) {
            statement.setDouble(1, time.toMillis() / 1_000.0);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getLong(1);
            }
        }
    }

    /** -1 while the database does not answer. */
    private static long number(BenchServers servers, String sql) {
        try (Connection connection = servers.connect();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        } catch (SQLException e) {
            return -1;
        }
    }

    private void requireExact(BenchServers servers, int committed) throws SQLException {
        deadline.await("all committed events", POLL, () -> applied(servers) >= committed);
        try (Connection connection = servers.connect();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(EXACT)) {
            row.next();
            if (row.getLong(1) != committed || row.getLong(2) != committed) {
                throw new InvalidRunException(committed + " events were committed, but " + row.getLong(1)
                        + " effects on " + row.getLong(2) + " orders were applied");
            }
        }
    }

    /** The processes that can fail, and what starts them again. */
    private static final class Processes {
        private final BenchServers servers;
        private final List<PayaraMicro> receivers;
        private final List<RelayProcess> relays;
        private final List<CompletableFuture<Void>> repairs = new ArrayList<>();

        Processes(BenchServers servers, List<PayaraMicro> receivers, List<RelayProcess> relays) {
            this.servers = servers;
            this.receivers = receivers;
            this.relays = relays;
        }

        Map<String, Fault> faults() {
            Map<String, Fault> faults = new LinkedHashMap<>();
            faults.put("PostgreSQL restarted", () -> later(servers.postgres()::restart));
            faults.put("all backends killed", () -> servers.execute(KILL_BACKENDS));
            faults.put("connection pools exhausted", () -> receivers.forEach(each -> later(() -> hold(each))));
            faults.put("relay killed", this::killRelay);
            faults.put("receiver killed", this::killReceiver);
            faults.put("relay and receiver killed five times", this::killBothAgainAndAgain);
            return faults;
        }

        private void killRelay() {
            RelayProcess owner = relays.stream()
                    .filter(RelayProcess::isAlive)
                    .filter(relay -> {
                        RelayMetrics metrics = RelayMetrics.of(relay);
                        return !metrics.isEmpty() && metrics.value(RelayMetrics.LEASE_HELD) == 1;
                    })
                    .findFirst()
                    .orElse(relays.get(0));
            owner.kill();
            later(owner::start);
        }

        private void killReceiver() {
            PayaraMicro receiver = receivers.get(0);
            receiver.kill();
            later(receiver::start);
        }

        private void killBothAgainAndAgain() {
            for (int kill = 1; kill <= REPEATED_KILLS; kill++) {
                killRelay();
                killReceiver();
                if (kill < REPEATED_KILLS) {
                    pass(BETWEEN_KILLS);
                }
            }
        }

        private static void hold(PayaraMicro receiver) {
            HttpRequest request = HttpRequest.newBuilder(
                            receiver.uri("/bench/api/pool?seconds=" + POOL_HELD.toSeconds()))
                    .POST(HttpRequest.BodyPublishers.noBody())
                    .build();
            HttpResponse<String> response = HTTP.sendAsync(request, HttpResponse.BodyHandlers.ofString())
                    .join();
            if (response.statusCode() != 200) {
                throw new InvalidRunException("the pool was not exhausted: HTTP " + response.statusCode());
            }
        }

        private void later(Runnable repair) {
            repairs.add(CompletableFuture.runAsync(repair));
        }

        void awaitRepaired() {
            CompletableFuture.allOf(repairs.toArray(CompletableFuture[]::new))
                    .orTimeout(5, TimeUnit.MINUTES)
                    .join();
            repairs.clear();
            receivers.forEach(receiver -> receiver.awaitHttp("/bench/api/ready"));
        }
    }

    private static Report report(
            BenchServers servers, double capacity, int perSecond, List<Measured> measured, double load)
            throws SQLException {
        StringBuilder table = new StringBuilder();
        JsonArrayBuilder faults = Json.createArrayBuilder();
        Map<String, Double> bars = new LinkedHashMap<>();
        List<Report.Requirement> requirements = new ArrayList<>();
        for (Measured each : measured) {
            table.append(String.format(
                    Locale.ROOT, "%-38s %,10d %,10d %7.3f%n", each.fault, each.before, each.after, each.ratio()));
            faults.add(Json.createObjectBuilder()
                    .add("fault", each.fault)
                    .add("before", each.before)
                    .add("after", each.after)
                    .add("ratio", each.ratio()));
            bars.put(each.fault, each.ratio());
            requirements.add(Report.Requirement.atLeast(each.fault, each.ratio(), REQUIRED));
        }
        JsonObject figures = Json.createObjectBuilder()
                .add("faults", faults)
                .add("ratio_required", REQUIRED)
                .add("capacity_per_s", Math.round(capacity))
                .add("inflow_per_s", perSecond)
                .add("pool_held_s", POOL_HELD.toSeconds())
                .add("between_kills_s", BETWEEN_KILLS.toSeconds())
                .add("partitions", ReceiveStage.PARTITIONS)
                .add("postgresql", servers.postgresJson())
                .add("load_before", load)
                .build();
        return new Report(
                "recovery",
                figures,
                table.toString(),
                Plot.bars("Events applied in the time from a fault on, divided by those before", "ratio", bars),
                requirements);
    }
}
