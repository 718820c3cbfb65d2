package dev.twinbox.proof.bench;

import dev.twinbox.proof.bench.report.Plot;
import dev.twinbox.proof.bench.report.Report;
import dev.twinbox.proof.landscape.Installation;
import dev.twinbox.proof.landscape.Machine;
import jakarta.json.Json;
import jakarta.json.JsonObject;
import jakarta.json.JsonObjectBuilder;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How much of a bare producer's rate the relay reaches with the same events from an outbox. Other ways out of a table
 * are measured as well.
 *
 * <p>All sides send the same records with the same producer settings, each time from a new JVM to a new topic. The
 * sides alternate.
 */
final class RelayBenchmark implements Benchmark {

    static final int ROUNDS = 3;

    private static final int WARM_UP = 500_000;

    private static final double REQUIRED_RATIO = 0.78;
    private static final double REQUIRED_SKIP_LOCKED_RATIO = 2;
    private static final double REQUIRED_EXACTLY_ONCE_RATIO = 0.55;

    /**
     * What is measured.
     *
     * @param rows events of a run; each number is measured by itself
     * @param rounds how often each side is measured
     * @param baseline the executable jar of another relay, which takes the place of the other ways; null: none
     */
    record Plan(List<Integer> rows, int rounds, @Nullable Path baseline) {
        /**
         * With few events the just-in-time compilers have a large share of each run. With many, the running relay is
         * seen.
         */
        static final Plan FULL = new Plan(List.of(500_000, 2_000_000), ROUNDS, null);

        static Plan of(int rows) {
            return new Plan(List.of(rows), ROUNDS, null);
        }
    }

    private final Installation files;
    private final Plan plan;
    private final Deadline deadline;

    RelayBenchmark(Installation files, Plan plan, Deadline deadline) {
        this.files = files;
        this.plan = plan;
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
        double load = Machine.load();
        new RelayRounds(servers, settings, Math.min(plan.rows().get(0), WARM_UP), deadline).warmUpBroker();
        List<RelayRounds> all = new ArrayList<>();
        for (int rows : plan.rows()) {
            RelayRounds rounds = new RelayRounds(servers, settings, rows, deadline).withRelay(relays);
            if (plan.baseline() != null) {
                rounds.withBaseline(plan.baseline()).load();
            } else if (all.isEmpty()) { // They are slow, and the first number of events shows it.
                rounds.load().withOthers();
            } else {
                rounds.load();
            }
            all.add(rounds.run(plan.rounds()));
        }
        return report(servers, all, settings, load);
    }

    private Report report(BenchServers servers, List<RelayRounds> all, Map<String, String> settings, double load)
            throws SQLException {
        RelayRounds first = all.get(0);
        StringBuilder table = new StringBuilder();
        all.forEach(rounds -> table.append(rounds.table()).append(System.lineSeparator()));
        return new Report(
                "relay",
                figures(servers, all, settings, load),
                table.toString(),
                Plot.bars(
                        "The same events onto Kafka, medians of " + plan.rounds() + " runs",
                        "events per second",
                        first.rates()),
                requirements(first));
    }

    private List<Report.Requirement> requirements(RelayRounds first) {
        List<Report.Requirement> requirements = new ArrayList<>(List.of(
                Report.Requirement.atLeast(
                        "relay / producer", first.ratio(RelaySide.LABEL, BareProducerSide.LABEL), REQUIRED_RATIO),
                Report.Requirement.atLeast(
                        "relay, exactly once / producer",
                        first.ratio(ExactlyOnceSide.LABEL, BareProducerSide.LABEL),
                        REQUIRED_EXACTLY_ONCE_RATIO)));
        if (plan.baseline() == null) {
            requirements.add(Report.Requirement.atLeast(
                    "relay / skip locked",
                    first.ratio(RelaySide.LABEL, SkipLockedSide.LABEL),
                    REQUIRED_SKIP_LOCKED_RATIO));
        }
        return requirements;
    }

    /** The figures of the first number of events are at the top; those of each larger one are an object. */
    private JsonObject figures(BenchServers servers, List<RelayRounds> all, Map<String, String> settings, double load)
            throws SQLException {
        JsonObjectBuilder figures = Json.createObjectBuilder();
        json(all.get(0)).build().forEach(figures::add);
        for (RelayRounds larger : all.subList(1, all.size())) {
            figures.add("rows_" + larger.rows(), json(larger));
        }
        return figures.add("ratio_required", REQUIRED_RATIO)
                .add("exactly_once_ratio_required", REQUIRED_EXACTLY_ONCE_RATIO)
                .add("skip_locked_ratio_required", REQUIRED_SKIP_LOCKED_RATIO)
                .add("payload_bytes", Workload.PAYLOAD_BYTES)
                .add(
                        "record_bytes",
                        EventRecord.of(new Workload(1, RelayRounds.KEYS, 1), 0).bytes())
                .add("keys", RelayRounds.KEYS)
                .add("partitions", RelayRounds.PARTITIONS)
                .add("producer_settings", Report.object(ProducerSettings.chosen(settings)))
                .add("postgresql", servers.postgresJson())
                .add("load_before", load)
                .build();
    }

    private JsonObjectBuilder json(RelayRounds rounds) {
        JsonObjectBuilder json = rounds.json();
        if (plan.baseline() != null) {
            json.add("baseline", rounds.baselineJson());
        } else if (rounds.rates().containsKey(DebeziumSide.LABEL)) {
            json.add("skip_locked_per_s", Math.round(rounds.rate(SkipLockedSide.LABEL)))
                    .add("debezium_per_s", Math.round(rounds.rate(DebeziumSide.LABEL)))
                    .add("skip_locked_ratio", Report.rounded(rounds.ratio(RelaySide.LABEL, SkipLockedSide.LABEL)))
                    .add("debezium_ratio", Report.rounded(rounds.ratio(RelaySide.LABEL, DebeziumSide.LABEL)));
        }
        return json;
    }
}
