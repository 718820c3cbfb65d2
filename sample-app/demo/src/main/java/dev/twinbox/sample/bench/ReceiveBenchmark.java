package dev.twinbox.sample.bench;

import dev.twinbox.fixtures.KafkaBroker;
import dev.twinbox.fixtures.PayaraMicro;
import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.sample.demo.Command;
import dev.twinbox.sample.demo.Installation;
import jakarta.json.Json;
import jakarta.json.JsonObject;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * How many effects a second the receiver makes happen inside Payara, through a JPA handler, beside a consumer written by hand
 * with JDBC in the same application: with batches of 500, and with one event per transaction.
 *
 * <p>A run is timed from outside, for both in the same way: from the moment at which its events become visible on the topic until
 * the consumer group has committed the offset behind the last one.
 */
final class ReceiveBenchmark implements Benchmark {

    private static final int ROUNDS = 3;
    private static final int BATCH = 500;
    private static final int KEYS = 10_000;
    private static final String DATABASE = "bench";
    private static final ReceiveSide TWINBOX = new ReceiveSide("twinbox, JPA", "bench-twinbox");
    private static final ReceiveSide JDBC = new ReceiveSide("by hand, JDBC", "bench-jdbc");
    private static final String MAX_HEAP = "1g";
    private static final Map<String, String> POSTGRES_SETTINGS =
            Map.of("fsync", "on", "synchronous_commit", "on", "shared_buffers", "512MB", "max_wal_size", "8GB");
    /** Far below the error of a run, and rare enough to cost it nothing. */
    private static final Duration OFFSET_POLL = Duration.ofMillis(10);

    private static final Duration NO_PROGRESS = Duration.ofSeconds(30);
    private static final double REQUIRED_RATIO = 0.5;
    private static final double REQUIRED_BATCH_GAIN = 8;

    private final Installation files;
    private final int batchRows;
    private final int singleRows;
    private final Deadline deadline;
    private final Runs runs = new Runs();
    private long nextOrder = 1;

    ReceiveBenchmark(Installation files, int rows, Deadline deadline) {
        this.files = files;
        this.batchRows = rows;
        // About the same time as a run in batches.
        this.singleRows = Math.max(1, rows / 50);
        this.deadline = deadline;
    }

    /** What the runs on one server share. */
    private record Stage(PayaraMicro server, Topics topics, TopicBacklog backlog, Effects effects) {}

    @Override
    public Report run() throws SQLException, IOException {
        PostgresServer postgres = PostgresServer.create();
        POSTGRES_SETTINGS.forEach(postgres::withSetting);
        try (postgres;
                KafkaBroker kafka = KafkaBroker.create()) {
            Console.say("starting PostgreSQL and Kafka");
            postgres.start();
            kafka.start();
            postgres.createDatabase(DATABASE);
            Command.run(
                    files.inboxCli(),
                    Map.of("TWINBOX_INBOX_DATABASE_PASSWORD", postgres.password()),
                    "migrate",
                    "--url=" + postgres.jdbcUrl(DATABASE),
                    "--user=" + postgres.user());
            // The application publishes, too, for another benchmark, and does not start without an outbox.
            new Relays(files.relay(), postgres, DATABASE, kafka.bootstrapServers()).migrate();
            double load = Machine.load();
            try (Topics topics = new Topics(kafka.bootstrapServers(), deadline);
                    TopicBacklog backlog = new TopicBacklog(kafka.bootstrapServers())) {
                topics.create(TWINBOX.topic(), 1);
                topics.create(JDBC.topic(), 1);
                Effects effects = new Effects(postgres, DATABASE);
                for (int batchSize : List.of(BATCH, 1)) {
                    try (PayaraMicro server = server(postgres, kafka, batchSize)) {
                        measure(new Stage(server, topics, backlog, effects), batchSize);
                        server.terminate();
                    }
                }
            }
            return report(postgres, load);
        }
    }

    private PayaraMicro server(PostgresServer postgres, KafkaBroker kafka, int batchSize) {
        Console.say("starting Payara Micro with batches of " + batchSize);
        String url = postgres.jdbcUrl(DATABASE);
        PayaraMicro server = PayaraMicro.builder(files.payara())
                .war(files.bench())
                .maxHeap(MAX_HEAP)
                .systemProperty("twinbox.inbox.batch.size", Integer.toString(batchSize))
                .systemProperty("twinbox.inbox.kafka.bootstrap.servers", kafka.bootstrapServers())
                .systemProperty(
                        "bench.database.url", url + (url.contains("?") ? "&" : "?") + "reWriteBatchedInserts=true")
                .systemProperty("bench.database.user", postgres.user())
                .systemProperty("bench.database.password", postgres.password())
                .build();
        try {
            return server.start().awaitHttp("/bench/api/ready");
        } catch (RuntimeException e) {
            server.close();
            throw e;
        }
    }

    private void measure(Stage stage, int batchSize) throws SQLException {
        int events = batchSize == 1 ? singleRows : batchRows;
        for (ReceiveSide side : List.of(TWINBOX, JDBC)) {
            Console.say("warming up: " + label(side, batchSize));
            consume(stage, side, events);
        }
        for (int round = 1; round <= ROUNDS; round++) {
            for (ReceiveSide side : List.of(TWINBOX, JDBC)) {
                runs.add(label(side, batchSize), round, events, consume(stage, side, events));
            }
        }
    }

    private static String label(ReceiveSide side, int batchSize) {
        return side.label() + (batchSize == 1 ? ", single" : ", batch " + batchSize);
    }

    private Duration consume(Stage stage, ReceiveSide side, int events) throws SQLException {
        Workload workload = new Workload(events, KEYS, nextOrder);
        nextOrder += events;
        stage.effects.clear();
        long end = stage.backlog.send(workload, side.topic());
        long start = System.nanoTime();
        stage.backlog.commit();
        long stop = awaitCommitted(stage, side, end);
        stage.effects.requireExactly(workload, side);
        return Duration.ofNanos(stop - start);
    }

    private long awaitCommitted(Stage stage, ReceiveSide side, long end) {
        Advance advance = new Advance();
        return deadline.await("the end of " + side.topic(), OFFSET_POLL, () -> {
            long committed = stage.topics.committed(side.topic(), side.topic());
            advance.to(committed);
            if (!stage.server.isAlive() || advance.sinceLast().compareTo(NO_PROGRESS) > 0) {
                throw new InvalidRunException(side.label() + " stopped at offset " + committed + " of " + end
                        + ". The server's log: " + stage.server.logFile());
            }
            return committed >= end;
        });
    }

    /** Since when a committed offset stands where it is. */
    private static final class Advance {
        private long offset = -1;
        private long nanos = System.nanoTime();

        void to(long committed) {
            if (committed != offset) {
                offset = committed;
                nanos = System.nanoTime();
            }
        }

        Duration sinceLast() {
            return Duration.ofNanos(System.nanoTime() - nanos);
        }
    }

    private Report report(PostgresServer postgres, double load) throws SQLException {
        double batch = runs.median(label(TWINBOX, BATCH));
        double single = runs.median(label(TWINBOX, 1));
        double jdbcBatch = runs.median(label(JDBC, BATCH));
        double jdbcSingle = runs.median(label(JDBC, 1));
        JsonObject figures = Json.createObjectBuilder()
                .add("receiver_per_s", Math.round(batch))
                .add("receiver_single_per_s", Math.round(single))
                .add("jdbc_per_s", Math.round(jdbcBatch))
                .add("jdbc_single_per_s", Math.round(jdbcSingle))
                .add("ratio", Report.rounded(batch / jdbcBatch))
                .add("ratio_required", REQUIRED_RATIO)
                .add("single_ratio", Report.rounded(single / jdbcSingle))
                .add("batch_gain", Report.rounded(batch / single))
                .add("batch_gain_required", REQUIRED_BATCH_GAIN)
                .add("runs", runs.json())
                .add("rows", batchRows)
                .add("rows_single", singleRows)
                .add("batch_size", BATCH)
                .add("payload_bytes", Workload.PAYLOAD_BYTES)
                .add("partitions", 1)
                .add("jvm_options", "-Xmx" + MAX_HEAP + " -XX:+UseSerialGC")
                .add("postgresql", Report.postgres(postgres, DATABASE, POSTGRES_SETTINGS))
                .add("load_before", load)
                .build();
        return new Report(
                "receive",
                figures,
                runs.table(),
                plot(),
                List.of(
                        Report.Requirement.atLeast("twinbox / by hand, batch", batch / jdbcBatch, REQUIRED_RATIO),
                        Report.Requirement.atLeast("twinbox, batch / single", batch / single, REQUIRED_BATCH_GAIN)));
    }

    private Plot plot() {
        Map<String, Double> medians = new LinkedHashMap<>();
        for (int batchSize : List.of(BATCH, 1)) {
            for (ReceiveSide side : List.of(TWINBOX, JDBC)) {
                String label = label(side, batchSize);
                medians.put(label, (double) Math.round(runs.median(label)));
            }
        }
        return Plot.bars("Effects inside Payara, medians of " + ROUNDS + " runs", "effects per second", medians);
    }
}
