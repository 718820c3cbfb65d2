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
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * How long nothing is published after the relay with the lease was killed with SIGKILL. The time ends when the first
 * event that only the standby can have sent arrives at a consumer. The killed relay becomes the next standby.
 */
final class FailoverBenchmark implements Benchmark {

    private static final int KEYS = 10_000;
    private static final int PARTITIONS = 8;
    private static final String TOPIC = "bench-failover";
    private static final int EVENTS_PER_SECOND = 200;
    private static final int SECONDS_FOR_A_KILL = 60;
    private static final int EVENTS_IN_BETWEEN = 100;
    private static final List<String> JVM_OPTIONS = List.of("-Xms256m", "-Xmx256m");
    private static final Duration LEASE = Duration.ofSeconds(5);
    private static final Duration ALLOWED = LEASE.plusSeconds(2);
    private static final Duration POLL = Duration.ofMillis(10);

    private final Installation files;
    private final int kills;
    private final Deadline deadline;

    FailoverBenchmark(Installation files, int kills, Deadline deadline) {
        this.files = files;
        this.kills = kills;
        this.deadline = deadline;
    }

    @Override
    public Report run() throws SQLException, IOException {
        try (BenchServers servers = BenchServers.start(files, deadline)) {
            Relays relays = servers.relays().with("twinbox.relay.lease", LEASE.toString());
            relays.migrate();
            servers.topics().create(TOPIC, PARTITIONS);
            int most = (kills + 1) * SECONDS_FOR_A_KILL * EVENTS_PER_SECOND;
            Workload workload = new Workload(most, KEYS, 1);
            double load = Machine.load();
            try (RelayProcess one = relays.start(JVM_OPTIONS);
                    RelayProcess other = startSecond(relays, one);
                    Arrivals arrivals = new Arrivals(servers.bootstrapServers(), TOPIC, workload)) {
                OpenLoop.Running run = new OpenLoop(servers, EventTable.TWINBOX, workload, TOPIC, deadline)
                        .start(new OpenLoop.Schedule(0, most, EVENTS_PER_SECOND, 1));
                List<Double> seconds = new ArrayList<>();
                RelayProcess owner = one;
                RelayProcess standby = other;
                for (int kill = 1; kill <= kills; kill++) {
                    seconds.add(measure(kill, owner, standby, run, arrivals));
                    owner.start();
                    RelayProcess killed = owner;
                    owner = standby;
                    standby = killed;
                }
                run.stop();
                requireAll(run, arrivals);
                return report(servers, seconds, arrivals.repeated(), load);
            }
        }
    }

    private RelayProcess startSecond(Relays relays, RelayProcess first) {
        awaitLease(first, 1);
        return relays.start(JVM_OPTIONS);
    }

    private void awaitLease(RelayProcess relay, int held) {
        deadline.await("a relay with the lease " + (held == 1 ? "held" : "not held"), POLL, () -> {
            RelayMetrics metrics = RelayMetrics.of(relay);
            return !metrics.isEmpty() && metrics.value(RelayMetrics.LEASE_HELD) == held;
        });
    }

    private double measure(
            int kill, RelayProcess owner, RelayProcess standby, OpenLoop.Running run, Arrivals arrivals) {
        awaitLease(owner, 1);
        awaitLease(standby, 0);
        int flowing = arrivals.distinct() + EVENTS_IN_BETWEEN;
        deadline.await("events from the owner", POLL, () -> arrivals.distinct() >= flowing);
        long before = System.nanoTime();
        owner.kill();
        long dead = System.nanoTime();
        int firstAfter = firstDueAfter(run, dead);
        // Events that were due before the kill may have come from the killed relay. Some later ones are enough to find
        // the first.
        deadline.await("an event from the standby", POLL, () -> earliest(arrivals, firstAfter) != Long.MAX_VALUE);
        double seconds = Report.rounded((earliest(arrivals, firstAfter) - before) / 1e9);
        Console.say(String.format(Locale.ROOT, "kill %d: first event of the standby after %.3f s", kill, seconds));
        return seconds;
    }

    private static int firstDueAfter(OpenLoop.Running run, long nanoTime) {
        int number = run.schedule().first();
        while (run.dueAt(number) <= nanoTime) {
            number++;
        }
        return number;
    }

    private static long earliest(Arrivals arrivals, int from) {
        long earliest = Long.MAX_VALUE;
        for (int number = from; number < from + LEASE.toSeconds() * EVENTS_PER_SECOND; number++) {
            long arrived = arrivals.of(number);
            earliest = arrived == 0 ? earliest : Math.min(earliest, arrived);
        }
        return earliest;
    }

    /** No committed event is missing. Repeats are allowed: the relay publishes at least once. */
    private void requireAll(OpenLoop.Running run, Arrivals arrivals) {
        int committed = run.committedEvents();
        deadline.await("all that was committed", POLL, () -> arrivals.distinct() >= committed);
        if (arrivals.distinct() > committed) {
            throw new InvalidRunException(
                    arrivals.distinct() + " events arrived, but only " + committed + " were committed");
        }
    }

    private Report report(BenchServers servers, List<Double> seconds, long repeated, double load) throws SQLException {
        double median = seconds.stream().sorted().toList().get((seconds.size() - 1) / 2);
        double longest = seconds.stream().mapToDouble(Double::doubleValue).max().orElseThrow();
        double allowed = ALLOWED.toMillis() / 1_000.0;
        JsonArrayBuilder each = Json.createArrayBuilder();
        Map<String, Double> bars = new LinkedHashMap<>();
        for (int i = 0; i < seconds.size(); i++) {
            each.add(seconds.get(i));
            bars.put("kill " + (i + 1), seconds.get(i));
        }
        JsonObject figures = Json.createObjectBuilder()
                .add("failover_s", median)
                .add("failover_max_s", longest)
                .add("failover_max_s_required", allowed)
                .add("lease_s", LEASE.toSeconds())
                .add("kills", each)
                .add("repeated_events", repeated)
                .add("events_per_s", EVENTS_PER_SECOND)
                .add("jvm_options", String.join(" ", JVM_OPTIONS))
                .add("postgresql", servers.postgresJson())
                .add("load_before", load)
                .build();
        return new Report(
                "failover",
                figures,
                String.format(
                        Locale.ROOT, "median %.3f s, longest %.3f s, lease %d s%n", median, longest, LEASE.toSeconds()),
                Plot.bars("SIGKILL to the standby's first event", "seconds", bars),
                List.of(Report.Requirement.atMost("longest fail-over, s", longest, allowed)));
    }
}
