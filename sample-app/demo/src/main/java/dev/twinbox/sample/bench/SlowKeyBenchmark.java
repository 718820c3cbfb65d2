package dev.twinbox.sample.bench;

import dev.twinbox.fixtures.PayaraMicro;
import dev.twinbox.sample.demo.Installation;
import jakarta.json.Json;
import jakarta.json.JsonObject;
import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What other keys notice of one whose events fail for a long time. Events come at fixed moments. First all is well; then a handler
 * fails for one customer; then that is repaired, and what was parked has to be applied, in order.
 */
final class SlowKeyBenchmark implements Benchmark {

    private static final int KEYS = 1_000;
    private static final int EVENTS_PER_SECOND = 500;
    private static final int FAILING_CUSTOMER = 7;
    private static final Duration WARM_UP = Duration.ofMinutes(1);
    private static final Duration POLL = Duration.ofMillis(100);
    private static final double REQUIRED_RATIO = 1.2;
    /** After the repair nobody wants to wait for ten minutes, nor are the attempts to run out before it. */
    private static final Map<String, String> SETTINGS = Map.of(
            "twinbox.inbox.batch.size", "500",
            "twinbox.inbox.parked.retry.max", "PT5S",
            "twinbox.inbox.parked.attempts", "1000000");

    private static final String APPLIED = """
            -- bench: what was applied, in order
            select order_id, customer_id, extract(epoch from applied_at) from applied_order order by number""";

    private final Installation files;
    private final Deadline deadline;
    private final OpenLoop.Schedule warmUp;
    private final OpenLoop.Schedule healthy;
    private final OpenLoop.Schedule failing;
    private final Workload workload;

    /** @param minutes for which the key fails; before that half of it without a failure */
    SlowKeyBenchmark(Installation files, int minutes, Deadline deadline) {
        this(files, Duration.ofMinutes(minutes), deadline);
    }

    SlowKeyBenchmark(Installation files, Duration failing, Deadline deadline) {
        this.files = files;
        this.deadline = deadline;
        this.warmUp = schedule(0, failing.compareTo(WARM_UP) < 0 ? failing : WARM_UP);
        this.healthy = schedule(warmUp.end(), failing.dividedBy(2));
        this.failing = schedule(healthy.end(), failing);
        this.workload = new Workload(this.failing.end(), KEYS, 1);
    }

    private static OpenLoop.Schedule schedule(int first, Duration length) {
        return new OpenLoop.Schedule(
                first, Math.max(KEYS, (int) (length.toMillis() * EVENTS_PER_SECOND / 1_000)), EVENTS_PER_SECOND, 1);
    }

    /** Latencies of the other keys in the two phases, and how long the repair took. */
    private record Measured(Latencies healthy, Latencies failing, int parked, Duration repair) {}

    @Override
    public Report run() throws SQLException, IOException, InterruptedException {
        try (ReceiveStage stage = ReceiveStage.start(files, deadline);
                PayaraMicro server = stage.server(SETTINGS);
                DirectProducer producer =
                        new DirectProducer(producerSettings(stage), workload, ReceiveSide.FAILING_KEY.topic())) {
            double load = Machine.load();
            Measured measured = measure(stage.servers(), producer);
            server.terminate();
            return report(stage, measured, load);
        }
    }

    private static Map<String, String> producerSettings(ReceiveStage stage) {
        return Map.of("bootstrap.servers", stage.servers().bootstrapServers(), "acks", "all", "linger.ms", "0");
    }

    private Measured measure(Servers servers, DirectProducer producer) throws SQLException, InterruptedException {
        Console.say("warming up");
        producer.run(warmUp, deadline);
        awaitApplied(servers, warmUp.end());
        Console.say("all keys are well for " + healthy.length().toSeconds() + " s");
        Instant healthySince = Instant.now();
        producer.run(healthy, deadline);
        awaitApplied(servers, healthy.end());
        Console.say("customer " + FAILING_CUSTOMER + " fails for "
                + failing.length().toSeconds() + " s");
        servers.execute("insert into blocked_customer values (" + FAILING_CUSTOMER + ")");
        Instant failingSince = Instant.now();
        producer.run(failing, deadline);
        int held = eventsOfTheFailing();
        awaitApplied(servers, workload.events() - held);
        long parked = count(servers, "inbox_parked");
        if (parked != held) {
            throw new InvalidRunException(parked + " events are parked, but " + held + " failed or wait behind one");
        }
        servers.execute("delete from blocked_customer");
        long repaired = System.nanoTime();
        awaitApplied(servers, workload.events());
        Duration repair = Duration.ofNanos(System.nanoTime() - repaired);
        deadline.await("an empty inbox_parked", POLL, () -> count(servers, "inbox_parked") == 0);
        Latencies before = new Latencies();
        Latencies during = new Latencies();
        readApplied(servers, before, healthySince, during, failingSince);
        return new Measured(before, during, held, repair);
    }

    private int eventsOfTheFailing() {
        int held = 0;
        for (int number = failing.first(); number < failing.end(); number++) {
            held += workload.customer(number) == FAILING_CUSTOMER ? 1 : 0;
        }
        return held;
    }

    private void awaitApplied(Servers servers, int events) {
        deadline.await(events + " applied events", POLL, () -> count(servers, "applied_order") >= events);
    }

    private static long count(Servers servers, String table) {
        try (Connection connection = servers.connect();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("select count(*) from " + table)) {
            row.next();
            return row.getLong(1);
        } catch (SQLException e) {
            throw new InvalidRunException("could not count " + table, e);
        }
    }

    /** Each event once, those of a key in order; times from the moment at which an event was due. */
    private void readApplied(
            Servers servers, Latencies before, Instant healthySince, Latencies during, Instant failingSince)
            throws SQLException {
        long[] lastOfCustomer = new long[KEYS];
        int applied = 0;
        try (Connection connection = servers.connect();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.setFetchSize(10_000);
            try (ResultSet rows = statement.executeQuery(APPLIED)) {
                while (rows.next()) {
                    long order = rows.getLong(1);
                    int customer = rows.getInt(2);
                    if (order <= lastOfCustomer[customer]) {
                        throw new InvalidRunException("order " + order + " was applied after order "
                                + lastOfCustomer[customer] + " of the same customer");
                    }
                    lastOfCustomer[customer] = order;
                    applied++;
                    int number = (int) (order - workload.firstOrder());
                    double at = rows.getDouble(3);
                    if (customer != FAILING_CUSTOMER && number >= failing.first()) {
                        during.add(latency(at, failing, failingSince, number));
                    } else if (customer != FAILING_CUSTOMER && number >= healthy.first()) {
                        before.add(latency(at, healthy, healthySince, number));
                    }
                }
            }
        }
        if (applied != workload.events()) {
            throw new InvalidRunException(applied + " events were applied, not " + workload.events());
        }
    }

    private static long latency(double appliedAt, OpenLoop.Schedule schedule, Instant since, int number) {
        double due = since.getEpochSecond()
                + since.getNano() / 1e9
                + schedule.nanosFromStart(schedule.transactionOf(number)) / 1e9;
        return Math.max(0, Math.round((appliedAt - due) * 1e9));
    }

    private Report report(ReceiveStage stage, Measured measured, double load) throws SQLException {
        double ratio = measured.failing.millis(99) / measured.healthy.millis(99);
        JsonObject figures = Json.createObjectBuilder()
                .add("p99_ms_healthy", measured.healthy.millis(99))
                .add("p99_ms_failing", measured.failing.millis(99))
                .add("ratio", Report.rounded(ratio))
                .add("ratio_required", REQUIRED_RATIO)
                .add("healthy", measured.healthy.json())
                .add("failing", measured.failing.json())
                .add("parked_events", measured.parked)
                .add("repair_s", Report.rounded(measured.repair.toMillis() / 1e3))
                .add("healthy_s", healthy.length().toSeconds())
                .add("failing_s", failing.length().toSeconds())
                .add("events_per_s", EVENTS_PER_SECOND)
                .add("keys", KEYS)
                .add("partitions", ReceiveStage.PARTITIONS)
                .add("payload_bytes", Workload.PAYLOAD_BYTES)
                .add("jvm_options", ReceiveStage.JVM_OPTIONS)
                .add("postgresql", stage.servers().postgresJson())
                .add("load_before", load)
                .build();
        String table = measured.healthy.line("all keys well")
                + measured.failing.line("one key fails, the others")
                + String.format(
                        Locale.ROOT,
                        "%d events of the failing key were parked; applied in order %.1f s after the repair%n",
                        measured.parked,
                        measured.repair.toMillis() / 1e3);
        return new Report(
                "slow-key",
                figures,
                table,
                Plot.lines(
                        "From due to applied, keys that do not fail",
                        "percentile",
                        "milliseconds",
                        Latencies.LABELS,
                        Map.of(
                                "all keys well", measured.healthy.percentiles(),
                                "one key fails", measured.failing.percentiles())),
                List.of(Report.Requirement.atMost("p99 of other keys, failing / well", ratio, REQUIRED_RATIO)));
    }
}
