package dev.twinbox.proof.bench;

import dev.twinbox.fixtures.PayaraMicro;
import dev.twinbox.proof.bench.report.Console;
import dev.twinbox.proof.bench.report.Latencies;
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
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What other keys notice of a key whose events fail for a long time. Events come at fixed moments. First all is well.
 * Then a handler fails for one customer. Then it works again, and the parked events must be applied in order. Then all
 * is well again: this phase shows the effect of time alone, e.g. of growing tables.
 */
final class SlowKeyBenchmark implements Benchmark {

    private static final int KEYS = 1_000;
    private static final int EVENTS_PER_SECOND = 500;
    private static final int FAILING_CUSTOMER = 7;
    private static final Duration WARM_UP = Duration.ofMinutes(1);
    private static final Duration POLL = Duration.ofMillis(100);
    private static final Duration SLICE = Duration.ofSeconds(30);
    private static final double REQUIRED_RATIO = 1.2;
    /** After the repair the parked events are to be retried soon, and the attempts must not run out before. */
    private static final Map<String, String> SETTINGS = Map.of(
            "twinbox.inbox.batch.size", "500",
            "twinbox.inbox.parked.retry.max", "PT5S",
            "twinbox.inbox.parked.attempts", "1000000");

    private static final String APPLIED = """
            -- bench: what was applied, in order
            select order_id, customer_id, extract(epoch from applied_at) from applied_order order by number""";

    private final Installation files;
    private final Deadline deadline;
    private final Phase warmUp;
    private final Phase before;
    private final Phase failing;
    private final Phase after;
    private final Workload workload;

    /** @param minutes how long the key fails; all is well for half of it before and after */
    SlowKeyBenchmark(Installation files, int minutes, Deadline deadline) {
        this(files, Duration.ofMinutes(minutes), deadline);
    }

    SlowKeyBenchmark(Installation files, Duration failing, Deadline deadline) {
        this.files = files;
        this.deadline = deadline;
        this.warmUp = new Phase("warming up", 0, failing.compareTo(WARM_UP) < 0 ? failing : WARM_UP);
        this.before = new Phase("all keys are well", warmUp.end(), failing.dividedBy(2));
        this.failing = new Phase("customer " + FAILING_CUSTOMER + " fails", before.end(), failing);
        this.after = new Phase("all keys are well again", this.failing.end(), failing.dividedBy(2));
        this.workload = new Workload(after.end(), KEYS, 1);
    }

    /** A phase of the run, and the latencies of the keys that do not fail. */
    private static final class Phase {
        private final String name;
        private final OpenLoop.Schedule schedule;
        private final Latencies whole = new Latencies();
        private final List<Latencies> slices = new ArrayList<>();
        private Instant since = Instant.MIN;

        Phase(String name, int first, Duration length) {
            this.name = name;
            int events = Math.max(KEYS, (int) (length.toMillis() * EVENTS_PER_SECOND / 1_000));
            this.schedule = new OpenLoop.Schedule(first, events, EVENTS_PER_SECOND, 1);
        }

        int first() {
            return schedule.first();
        }

        int end() {
            return schedule.end();
        }

        boolean has(int number) {
            return first() <= number && number < end();
        }

        void produce(DirectProducer producer, Deadline deadline) throws InterruptedException {
            Console.say(name + " for " + schedule.length().toSeconds() + " s");
            producer.run(schedule, deadline);
            since = producer.startedAt();
        }

        void applied(int number, double at) {
            long afterStart = schedule.nanosFromStart(schedule.transactionOf(number));
            double due = since.getEpochSecond() + since.getNano() / 1e9 + afterStart / 1e9;
            long nanos = Math.max(0, Math.round((at - due) * 1e9));
            whole.add(nanos);
            int slice = (int) (afterStart / SLICE.toNanos());
            while (slices.size() <= slice) {
                slices.add(new Latencies());
            }
            slices.get(slice).add(nanos);
        }

        JsonArrayBuilder json() {
            JsonArrayBuilder each = Json.createArrayBuilder();
            slices.forEach(slice -> each.add(slice.json()));
            return each;
        }
    }

    /** How many events were parked, and how long it took to apply them. */
    private record Measured(int parked, Duration repair) {}

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

    private Measured measure(BenchServers servers, DirectProducer producer) throws SQLException, InterruptedException {
        warmUp.produce(producer, deadline);
        awaitApplied(servers, warmUp.end());
        before.produce(producer, deadline);
        awaitApplied(servers, before.end());
        servers.execute("insert into blocked_customer values (" + FAILING_CUSTOMER + ")");
        failing.produce(producer, deadline);
        int held = eventsOfTheFailing();
        awaitApplied(servers, failing.end() - held);
        long parked = count(servers, "inbox_parked");
        if (parked != held) {
            throw new InvalidRunException(
                    parked + " events are parked, but " + held + " failed or wait for one that did");
        }
        servers.execute("delete from blocked_customer");
        long repaired = System.nanoTime();
        awaitApplied(servers, failing.end());
        Duration repair = Duration.ofNanos(System.nanoTime() - repaired);
        deadline.await("an empty inbox_parked", POLL, () -> count(servers, "inbox_parked") == 0);
        after.produce(producer, deadline);
        awaitApplied(servers, after.end());
        readApplied(servers);
        return new Measured(held, repair);
    }

    private int eventsOfTheFailing() {
        int held = 0;
        for (int number = failing.first(); number < failing.end(); number++) {
            held += workload.customer(number) == FAILING_CUSTOMER ? 1 : 0;
        }
        return held;
    }

    private void awaitApplied(BenchServers servers, int events) {
        deadline.await(events + " applied events", POLL, () -> count(servers, "applied_order") >= events);
    }

    private static long count(BenchServers servers, String table) {
        try (Connection connection = servers.connect();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("select count(*) from " + table)) {
            row.next();
            return row.getLong(1);
        } catch (SQLException e) {
            throw new InvalidRunException("could not count " + table, e);
        }
    }

    /** Each event once, those of a key in order. Times begin when an event was due. */
    private void readApplied(BenchServers servers) throws SQLException {
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
                    if (customer != FAILING_CUSTOMER) {
                        for (Phase phase : List.of(before, failing, after)) {
                            if (phase.has(number)) {
                                phase.applied(number, rows.getDouble(3));
                            }
                        }
                    }
                }
            }
        }
        if (applied != workload.events()) {
            throw new InvalidRunException(applied + " events were applied, not " + workload.events());
        }
    }

    private Report report(ReceiveStage stage, Measured measured, double load) throws SQLException {
        Latencies well = before.whole.millis(99) < after.whole.millis(99) ? before.whole : after.whole;
        double ratio = failing.whole.millis(99) / well.millis(99);
        String table = before.whole.line("all keys well, before")
                + failing.whole.line("one key fails, the others")
                + after.whole.line("all keys well, after")
                + String.format(
                        Locale.ROOT,
                        "%d events of the failing key were parked; applied in order %.1f s after the repair%n",
                        measured.parked,
                        measured.repair.toMillis() / 1e3);
        return new Report(
                "slow-key",
                figures(stage, measured, well, load),
                table,
                Plot.lines(
                        "From due to applied, keys that do not fail",
                        "percentile",
                        "milliseconds",
                        Latencies.LABELS,
                        Map.of(
                                "well, before", before.whole.percentiles(),
                                "one key fails", failing.whole.percentiles(),
                                "well, after", after.whole.percentiles())),
                List.of(Report.Requirement.atMost("p99 of other keys, failing / well", ratio, REQUIRED_RATIO)));
    }

    private JsonObject figures(ReceiveStage stage, Measured measured, Latencies well, double load) throws SQLException {
        return Json.createObjectBuilder()
                .add("p99_ms_healthy", well.millis(99))
                .add("p99_ms_failing", failing.whole.millis(99))
                .add("ratio", Report.rounded(failing.whole.millis(99) / well.millis(99)))
                .add("ratio_required", REQUIRED_RATIO)
                .add("healthy", well.json())
                .add("healthy_before", before.whole.json())
                .add("failing", failing.whole.json())
                .add("healthy_after", after.whole.json())
                .add("slice_s", SLICE.toSeconds())
                .add("healthy_before_slices", before.json())
                .add("failing_slices", failing.json())
                .add("healthy_after_slices", after.json())
                .add("parked_events", measured.parked)
                .add("repair_s", Report.rounded(measured.repair.toMillis() / 1e3))
                .add("healthy_s", before.schedule.length().toSeconds())
                .add("failing_s", failing.schedule.length().toSeconds())
                .add("events_per_s", EVENTS_PER_SECOND)
                .add("keys", KEYS)
                .add("partitions", ReceiveStage.PARTITIONS)
                .add("payload_bytes", Workload.PAYLOAD_BYTES)
                .add("jvm_options", ReceiveStage.JVM_OPTIONS)
                .add("postgresql", stage.servers().postgresJson())
                .add("load_before", load)
                .build();
    }
}
