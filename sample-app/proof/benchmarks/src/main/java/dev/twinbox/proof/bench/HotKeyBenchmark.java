package dev.twinbox.proof.bench;

import dev.twinbox.proof.bench.report.Console;
import dev.twinbox.proof.bench.report.Plot;
import dev.twinbox.proof.bench.report.Report;
import dev.twinbox.proof.landscape.Installation;
import dev.twinbox.proof.landscape.Machine;
import jakarta.json.Json;
import jakarta.json.JsonObject;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Whether the relay is slower if all events have one key instead of 10,000 keys. The two cases alternate, each time in
 * a new JVM.
 */
final class HotKeyBenchmark implements Benchmark {

    private static final int ROUNDS = 3;
    private static final int MANY_KEYS = 10_000;
    private static final int PARTITIONS = 8;
    private static final String TOPIC = "bench-hot-key";
    private static final List<String> JVM_OPTIONS = List.of("-Xms1g", "-Xmx1g");
    private static final double REQUIRED_RATIO = 0.8;

    private final Installation files;
    private final Deadline deadline;
    private final Case oneKey;
    private final Case manyKeys;
    private final Runs runs = new Runs();

    /** @param database the database with its backlog */
    private record Case(String label, String database, Workload workload) {}

    HotKeyBenchmark(Installation files, int rows, Deadline deadline) {
        this.files = files;
        this.deadline = deadline;
        this.oneKey = new Case("one key", "one_key", new Workload(rows, 1, 1));
        this.manyKeys = new Case("10,000 keys", "many_keys", new Workload(rows, MANY_KEYS, 1));
    }

    @Override
    public Report run() throws SQLException, IOException, InterruptedException {
        try (BenchServers servers = BenchServers.start(files, deadline)) {
            RelaySide one = load(servers, oneKey);
            RelaySide many = load(servers, manyKeys);
            double load = Machine.load();
            for (int round = 1; round <= ROUNDS; round++) {
                measure(servers, oneKey, one, round);
                measure(servers, manyKeys, many, round);
            }
            return report(servers, load);
        }
    }

    private RelaySide load(BenchServers servers, Case each) throws SQLException, IOException {
        Console.say(String.format(Locale.ROOT, "loading %,d committed rows, %s", each.workload.events(), each.label));
        servers.postgres().createDatabase(each.database);
        Relays relays = new Relays(servers.servers(), each.database);
        relays.migrate();
        try (Connection connection = servers.postgres().connect(each.database)) {
            OutboxBacklog.load(connection, EventTable.TWINBOX, each.workload, TOPIC);
        }
        return new RelaySide(each.label, relays, each.workload.events(), JVM_OPTIONS);
    }

    private void measure(BenchServers servers, Case each, RelaySide relay, int round) throws SQLException {
        servers.topics().recreate(TOPIC, PARTITIONS);
        relay.prepare();
        Duration took = relay.run(deadline).took();
        TopicCheck.check(servers.bootstrapServers(), TOPIC, each.workload, TopicCheck.Order.BY_KEY, deadline);
        runs.add(each.label, round, each.workload.events(), took);
    }

    private Report report(BenchServers servers, double load) throws SQLException {
        double one = runs.median(oneKey.label);
        double many = runs.median(manyKeys.label);
        JsonObject figures = Json.createObjectBuilder()
                .add("one_key_per_s", Math.round(one))
                .add("many_keys_per_s", Math.round(many))
                .add("ratio", Report.rounded(one / many))
                .add("ratio_required", REQUIRED_RATIO)
                .add("runs", runs.json())
                .add("rows", oneKey.workload.events())
                .add("keys", MANY_KEYS)
                .add("payload_bytes", Workload.PAYLOAD_BYTES)
                .add("partitions", PARTITIONS)
                .add("jvm_options", String.join(" ", JVM_OPTIONS))
                .add("postgresql", servers.postgresJson())
                .add("load_before", load)
                .build();
        Map<String, Double> medians = new LinkedHashMap<>();
        medians.put(oneKey.label, (double) Math.round(one));
        medians.put(manyKeys.label, (double) Math.round(many));
        return new Report(
                "hot-key",
                figures,
                runs.table(),
                Plot.bars(
                        "The relay with one key and with many, medians of " + ROUNDS + " runs",
                        "events per second",
                        medians),
                List.of(Report.Requirement.atLeast("one key / 10,000 keys", one / many, REQUIRED_RATIO)));
    }
}
