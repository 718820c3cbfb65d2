package dev.twinbox.inbox.cli;

import static dev.twinbox.fixtures.ApiAttacks.OPERATOR;
import static dev.twinbox.fixtures.ApiAttacks.READER;
import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.fixtures.KafkaBroker;
import dev.twinbox.fixtures.PostgresServer;
import jakarta.json.JsonObject;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Replays are previewed, requested, listed and canceled, by the command line and over HTTP. {@code ReplayIT} runs them. */
@Tag("proof")
class ReplayCliIT {

    private static final PostgresServer POSTGRES = PostgresServer.create();
    private static final KafkaBroker KAFKA = KafkaBroker.create();
    private static final String DATABASE = "replay_cli";

    /** Of the first record; each next one is a second later. */
    private static final long START = 1_764_417_600_000L; // 2025-11-29T12:00:00Z

    @TempDir
    private static Path folder;

    private static Path config;

    @BeforeAll
    static void start() throws Exception {
        POSTGRES.start();
        KAFKA.start();
        KAFKA.createTopic("orders", 2);
        KAFKA.createTopic("single", 1);
        config = Files.writeString(
                folder.resolve("console.properties"),
                "twinbox.inbox.kafka.bootstrap.servers=" + KAFKA.bootstrapServers());
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", KAFKA.bootstrapServers()),
                new StringSerializer(),
                new StringSerializer())) {
            for (int i = 0; i < 10; i++) {
                producer.send(new ProducerRecord<>("orders", 0, START + i * 1_000L, "key", "value"));
                producer.send(new ProducerRecord<>("orders", 1, START + i * 1_000L, "key", "value"));
                producer.send(new ProducerRecord<>("single", 0, START + i * 1_000L, "key", "value"));
            }
        }
        POSTGRES.createDatabase(DATABASE);
        run(0, "migrate");
        execute("insert into inbox_handler (consumer_group, topic, event_type, handler, delivery) values "
                + "('shipping', 'orders', 'placed', 'ship', 'exactly_once_effect'), "
                + "('shipping', 'single', 'placed', 'one', 'exactly_once_effect'), "
                + "('shipping', 'orders', 'placed', 'project', 'at_least_once'), "
                + "('shipping', 'orders', 'seen', 'count', 'at_most_once')");
    }

    @AfterAll
    static void stop() {
        KAFKA.close();
        POSTGRES.close();
    }

    private static void execute(String sql) throws Exception {
        try (Connection connection = POSTGRES.connect(DATABASE);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** In this process. */
    private static String run(int exitCode, String... arguments) {
        List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of(
                "--url", POSTGRES.jdbcUrl(DATABASE), "--user", POSTGRES.user(), "--password=" + POSTGRES.password()));
        StringWriter output = new StringWriter();
        PrintWriter out = new PrintWriter(output, true);
        int code = new CommandLine(new InboxCli()).setOut(out).setErr(out).execute(all.toArray(String[]::new));
        assertThat(code).as(output.toString()).isEqualTo(exitCode);
        return output.toString();
    }

    private static String replay(int exitCode, String... arguments) {
        List<String> all = new ArrayList<>(List.of("replay", "--config", config.toString()));
        all.addAll(List.of(arguments));
        return run(exitCode, all.toArray(String[]::new));
    }

    @Test
    void aRangeOfTimesIsPreviewedRequestedListedAndCanceled() throws Exception {
        execute("truncate inbox_replay, inbox_action");
        String[] range = {
            "--topic",
            "orders",
            "--handler",
            "ship",
            "--from",
            "2025-11-29T12:00:03Z",
            "--to",
            "2025-11-29T14:00:05+02:00"
        };
        String preview = replay(0, with(range, "--dry-run"));
        assertThat(preview)
                .contains("partition 0: offsets 3 to 4\n", "partition 1: offsets 3 to 4\n", "at most 4 records")
                .contains("Events that the inbox knows are skipped.")
                .contains("There is no order between these events and live ones of the same key.")
                .endsWith("nothing is requested: dry run\n");
        assertThat(run(0, "replay")).isEqualTo("0 jobs\n");

        assertThat(replay(0, with(range, "--again", "--key", "key")))
                .contains("is handled once more", "requested as job 1:");
        assertThat(replay(2, range))
                .isEqualTo("a job of handler \"ship\" and topic \"orders\" is not over: wait for its "
                        + "end, or cancel it\n");
        assertThat(run(0, "replay"))
                .isEqualTo("job 1 requested, handler \"ship\" of group \"shipping\", topic \"orders\" from "
                        + "2025-11-29T12:00:03Z to 2025-11-29T14:00:05+02:00, key \"key\", again: 0 handled, 0 skipped, "
                        + "0 parked, 4 of 4 offsets left\n");
        assertThat(run(0, "replay", "--cancel", "1")).startsWith("job 1 is canceled");
        assertThat(run(0, "replay", "--cancel", "1")).startsWith("job 1 is over");
        assertThat(run(0, "replay")).startsWith("job 1 canceled, ");
        assertThat(run(0, "actions"))
                .contains(
                        "\tcommand-line\treplay\t4\ttopic \"orders\", from ",
                        "again \"yes\"",
                        "\tcancel-replay\t1\tjob \"1\"");
    }

    private static String[] with(String[] arguments, String... more) {
        List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of(more));
        return all.toArray(String[]::new);
    }

    @Test
    void whatCannotBeDoneIsRefusedWithTheRemedy() throws Exception {
        execute("truncate inbox_replay, inbox_paused");
        assertThat(run(2, "replay", "--topic", "orders", "--handler", "ship", "--from", "oldest"))
                .contains("no brokers are configured", "twinbox.inbox.kafka.bootstrap.servers");
        assertThat(replay(2, "--topic", "orders", "--handler", "sihp", "--from", "oldest"))
                .contains("no handler \"sihp\" of topic \"orders\" is announced", "ship of topic orders");
        assertThat(replay(2, "--topic", "orders", "--handler", "count", "--from", "oldest"))
                .contains("is called at most once");
        assertThat(replay(2, "--topic", "orders", "--handler", "project", "--from", "oldest"))
                .contains("is called at least once", "--again");
        assertThat(replay(2, "--topic", "orders", "--handler", "ship", "--from", "3"))
                .contains("has 2 partitions, and an offset belongs to one of them");
        assertThat(replay(2, "--topic", "orders", "--handler", "ship", "--from", "3", "--partition", "7"))
                .contains("has no partition 7: give one of [0, 1]");
        assertThat(replay(2, "--topic", "orders", "--handler", "ship", "--from", "2026-11-29T12:00:00Z"))
                .contains("nothing is in this range", "{0=10, 1=10}");
        execute("insert into inbox_paused (consumer_group, what, name) values ('shipping', 'handler', 'ship'), "
                + "('shipping', 'topic', 'orders')");
        assertThat(replay(0, "--topic", "orders", "--handler", "ship", "--from", "oldest", "--dry-run"))
                .contains(
                        "Handler ship is paused: the job calls it all the same, and its live events come after the job")
                .contains("Topic orders is paused: the job waits")
                .doesNotContain("There is no order");
    }

    @Test
    void offsetsThatAreGoneAreSaid() throws Exception {
        execute("truncate inbox_replay");
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", KAFKA.bootstrapServers()))) {
            admin.deleteRecords(Map.of(new TopicPartition("single", 0), RecordsToDelete.beforeOffset(4)))
                    .all()
                    .get();
        }
        assertThat(replay(0, "--topic", "single", "--handler", "one", "--from", "2", "--to", "6", "--dry-run"))
                .contains("partition 0: offsets 2 to 5\n", "Partition 0: offsets 2 to 3 are gone");
        assertThat(replay(0, "--topic", "single", "--handler", "one", "--from", "2025-11-29T12:00:00Z", "--dry-run"))
                .contains("partition 0: offsets 4 to 9\n", "Partition 0: its oldest record is at offset 4.");
    }

    @Test
    void theConsoleHasTheSameOperations() throws Exception {
        execute("truncate inbox_replay, inbox_action, inbox_paused");
        String body = "{\"topic\":\"orders\",\"handler\":\"ship\",\"from\":4,\"partition\":1%s}";
        try (ConsoleProcess console = ConsoleProcess.start(
                POSTGRES,
                DATABASE,
                POSTGRES.user(),
                Map.of("TWINBOX_INBOX_KAFKA_BOOTSTRAP_SERVERS", KAFKA.bootstrapServers()))) {
            JsonObject preview = console.post("/replay", body.formatted(",\"dryRun\":true"), OPERATOR, 200);
            assertThat(preview.getInt("records")).isEqualTo(6);
            assertThat(preview.getBoolean("dryRun")).isTrue();
            assertThat(preview).doesNotContainKey("job");
            assertThat(preview.getJsonArray("notes").toString()).contains("There is no order");
            console.post("/replay", body.formatted(""), READER, 403);
            console.post("/replay", body.formatted(",\"all\":true"), OPERATOR, 400);
            console.post("/replay", body.formatted(",\"again\":1"), OPERATOR, 400);

            JsonObject requested = console.post("/replay", body.formatted(",\"again\":true"), OPERATOR, 200);
            int job = requested.getInt("job");
            assertThat(console.post("/replay", body.formatted(""), OPERATOR, 409)
                            .getString("detail"))
                    .contains("is not over");
            JsonObject listed =
                    console.get("/replay", null, 200).getJsonArray("jobs").getJsonObject(0);
            assertThat(listed.getInt("job")).isEqualTo(job);
            assertThat(listed.getString("state")).isEqualTo("requested");
            assertThat(listed.getInt("left")).isEqualTo(6);
            assertThat(console.post("/replay/" + job + "/cancel", "{}", OPERATOR, 200)
                            .getBoolean("wasActive"))
                    .isTrue();
            assertThat(console.post("/replay/" + job + "/cancel", "{}", OPERATOR, 200)
                            .getBoolean("wasActive"))
                    .isFalse();
            assertThat(console.get("/actions", null, 200).toString()).contains("\"replay\"", "\"cancel-replay\"");
        }
    }
}
