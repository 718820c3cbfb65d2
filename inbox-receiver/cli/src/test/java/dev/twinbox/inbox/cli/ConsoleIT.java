package dev.twinbox.inbox.cli;

import static dev.twinbox.fixtures.ApiAttacks.OPERATOR;
import static dev.twinbox.fixtures.ApiAttacks.READER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.KafkaBroker;
import dev.twinbox.fixtures.PostgresServer;
import jakarta.json.JsonObject;
import jakarta.json.JsonString;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** The console against a real database and a real broker, which are killed. */
@Tag("proof")
class ConsoleIT {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final String SECRET = "s3cr3t-payload";

    private static final PostgresServer POSTGRES = PostgresServer.create();
    private static final KafkaBroker KAFKA = KafkaBroker.create();

    /** Those that run already go on. */
    @BeforeAll
    static void start() {
        POSTGRES.start();
        KAFKA.start();
    }

    @AfterAll
    static void stop() {
        KAFKA.close();
        POSTGRES.close();
    }

    @Test
    void parkedEventsAreListedShownRetriedAndDiscardedAndTheLogHasWhoDidIt() throws Exception {
        prepare("console_parked");
        park("console_parked", 4);
        try (ConsoleProcess console = start("console_parked")) {
            JsonObject page = console.get("/parked?limit=3&handler=ship", null, 200);
            assertThat(numbers(page)).containsExactly(1, 2, 3);
            assertThat(numbers(console.get("/parked?limit=3&after=" + page.getInt("next"), null, 200)))
                    .containsExactly(4);
            assertThat(numbers(console.get("/parked?state=DEAD&key=key", null, 200)))
                    .containsExactly(1);
            assertThat(numbers(console.get("/parked?error=no%20STOCK", null, 200)))
                    .containsExactly(1);
            assertThat(console.get("/parked?group=other", null, 200).getJsonArray("parked"))
                    .isEmpty();
            JsonObject event = console.get("/parked/1", null, 200);
            assertThat(event.toString()).doesNotContain(SECRET);
            assertThat(event.getInt("valueBytes")).isEqualTo(SECRET.length());
            console.get("/parked/99", null, 404);
            console.get("/parked/1/payload", null, 403);
            assertThat(console.get("/parked/1/payload", READER, 200).getString("text"))
                    .isEqualTo(SECRET);

            JsonObject causes = console.get("/causes", null, 200);
            JsonObject cause = causes.getJsonArray("causes").getJsonObject(0);
            assertThat(causes.getJsonArray("causes")).as(causes.toString()).hasSize(1);
            assertThat(cause.getString("title")).isEqualTo("Handler ship of group shipping: OrderException");
            assertThat(List.of(cause.getInt("keys"), cause.getInt("events"), cause.getInt("refused")))
                    .containsExactly(1, 4, 1);
            String ofCause = cause.getJsonObject("selection").toString();
            assertThat(console.post("/parked/retry", ofCause.replace("}", ",\"dryRun\":true}"), OPERATOR, 200)
                            .getInt("retried"))
                    .isEqualTo(1);

            String dead = "{\"error\":\"no stock\",\"dryRun\":%s}";
            assertThat(console.post("/parked/retry", dead.formatted(true), OPERATOR, 200)
                            .toString())
                    .isEqualTo("{\"retried\":1,\"dryRun\":true}");
            assertThat(query("console_parked", "select state from inbox_parked where number = 1"))
                    .isEqualTo("dead");
            console.post("/parked/retry", dead.formatted(false), READER, 403);
            assertThat(console.post("/parked/retry", dead.formatted(false), OPERATOR, 200)
                            .getInt("retried"))
                    .isEqualTo(1);
            assertThat(query("console_parked", "select state from inbox_parked where number = 1"))
                    .isEqualTo("retry");
            assertThat(console.post("/parked/1/discard", "{}", OPERATOR, 200).getInt("discarded"))
                    .isEqualTo(1);
            assertThat(query("console_parked", "select event_id from inbox_event"))
                    .isEqualTo("event-1");
            assertThat(query("console_parked", "select state from inbox_parked where number = 2"))
                    .as("the next of its key")
                    .isEqualTo("retry");
            assertThat(console.post("/parked/1/discard", "{}", OPERATOR, 200).getInt("discarded"))
                    .isZero();
            assertThat(command("console_parked", "parked", "discard", "--key", "key"))
                    .isEqualTo("3 discarded\n");

            assertThat(actions(console))
                    .containsExactly(
                            "command-line discard key \"key\" 3",
                            "http discard numbers 1 1",
                            "http retry error \"no stock\" 1");
            assertThat(console.get("/actions?limit=1", null, 200).getInt("next"))
                    .isEqualTo(3);
            assertThat(command("console_parked", "actions").lines()).hasSize(4);
            assertThat(console.log())
                    .contains("operator has retried 1 parked event(s) over HTTP")
                    .doesNotContain(SECRET, OPERATOR, READER);
            assertThat(console.terminate()).isEqualTo(143);
        }
    }

    @Test
    void whereAnEventIsHasAnAnswerOnTheReceiversSideToo() throws Exception {
        prepare("console_events");
        KAFKA.createTopic("console-events", 1);
        announce("console_events", "console-events");
        send("console-events", "key", "handled", "unread");
        commit("console-events", 1);
        execute(
                "console_events",
                "insert into inbox_event (consumer_group, handler, event_id) values ('shipping', 'ship', 'handled')");
        park("console_events", 1);
        try (ConsoleProcess console = start("console_events")) {
            awaitState(console, "/events/handled", "handled");
            awaitState(console, "/events/event-1", "parked");
            awaitState(console, "/events/unread", "unread");
            JsonObject unread = console.get("/events/unread", null, 200);
            assertThat(unread.getJsonArray("records").getJsonObject(0).getInt("offset"))
                    .isEqualTo(1);
            awaitState(console, "/events/nowhere", "not-here");
            commit("console-events", 2);
            awaitState(console, "/events/unread", "passed");

            JsonObject all = console.get("/events?key=key", null, 200);
            assertThat(all.getJsonArray("events").getValuesAs(JsonObject.class))
                    .extracting(each -> each.getString("id") + " " + each.getString("state"))
                    .containsExactlyInAnyOrder("handled handled", "unread passed", "event-1 parked");
            assertThat(all.getBoolean("isCut")).isFalse();
            KAFKA.kill();
            JsonObject away = console.get("/events/nowhere", null, 200);
            assertThat(away.getBoolean("isCut")).isTrue();
            assertThat(away.getJsonArray("searched").toString()).contains("cannot be asked");
            awaitState(console, "/events/handled", "handled");
        } finally {
            start();
        }
    }

    @Test
    void topicsAndHandlersArePausedAndResumedAndTheLogHasWhoDidIt() throws Exception {
        prepare("console_paused");
        announce("console_paused", "console-paused");
        try (ConsoleProcess console = start("console_paused")) {
            String both = "{\"topics\":[\"console-paused\"],\"handlers\":[\"ship\"]}";
            console.post("/pause", both, READER, 403);
            JsonObject paused = console.post("/pause", both, OPERATOR, 200);
            assertThat(paused.getJsonArray("topics").getJsonObject(0))
                    .containsKeys("pausedSince")
                    .hasToString("{\"group\":\"shipping\",\"topic\":\"console-paused\",\"pausedSince\":\""
                            + paused.getJsonArray("topics").getJsonObject(0).getString("pausedSince") + "\"}");
            assertThat(console.post("/pause", both, OPERATOR, 200)).isEqualTo(paused);
            JsonObject status = console.get("/status", null, 200);
            assertThat(status.getJsonArray("pausedTopics")).isEqualTo(paused.getJsonArray("topics"));
            assertThat(status.getJsonArray("pausedHandlers")).isEqualTo(paused.getJsonArray("handlers"));

            assertThat(console.post("/pause", "{\"topics\":[\"x\"],\"handlers\":[\"sihp\"]}", OPERATOR, 409)
                            .getString("detail"))
                    .contains("no announced handler has topic \"x\"", "known topics: console-paused");
            assertThat(console.post("/pause", "{\"handlers\":[\"sihp\"]}", OPERATOR, 409)
                            .getString("detail"))
                    .contains("no handler \"sihp\" is announced", "ship (group shipping)");
            assertThat(console.post("/pause", "{\"topics\":[\"x\"],\"group\":\"shipping\"}", OPERATOR, 200)
                            .getJsonArray("warnings")
                            .getString(0))
                    .startsWith("check the names: no announced handler of group \"shipping\" has topic \"x\"");
            for (String wrong : List.of("{}", "{\"topics\":[]}", "{\"topics\":[\"a b\"]}", "{\"handlers\":[\"\"]}")) {
                console.post("/pause", wrong, OPERATOR, 400);
            }

            assertThat(command("console_paused", "status"))
                    .containsPattern("paused topic:    console-paused of group shipping since 20\\S+Z\n")
                    .containsPattern("paused handler:  ship of group shipping since 20\\S+Z\n");
            park("console_paused", 2);
            assertThat(console.get("/causes", null, 200).toString()).contains("\"isPaused\":false");
            execute(
                    "console_paused",
                    "update inbox_parked set state = 'retry', next_try_at = clock_timestamp() "
                            + "where state = 'dead'");
            JsonObject cause =
                    console.get("/causes", null, 200).getJsonArray("causes").getJsonObject(0);
            assertThat(cause.getString("title")).isEqualTo("Handler ship of group shipping is paused: OrderException");
            assertThat(cause.getString("remedy")).startsWith("Resume the handler");
            assertThat(cause.getInt("events")).isEqualTo(2);
            assertThat(console.post("/resume", both, OPERATOR, 200))
                    .hasToString("{\"topics\":[{\"topic\":\"console-paused\",\"wasPaused\":true}],"
                            + "\"handlers\":[{\"handler\":\"ship\",\"wasPaused\":true}]}");
            assertThat(command("console_paused", "resume", "--topic", "x", "--handler", "ship"))
                    .isEqualTo("topic \"x\" is resumed\nhandler \"ship\" was not paused\n");
            assertThat(query("console_paused", "select count(*) from inbox_paused"))
                    .isEqualTo("0");
            assertThat(console.get("/causes", null, 200)).hasToString("{\"causes\":[],\"moving\":2,\"isCut\":false}");
            assertThat(actions(console))
                    .containsExactly(
                            "command-line resume topic \"x\", handler \"ship\" 1",
                            "http resume topic \"console-paused\", handler \"ship\" 2",
                            "http pause topic \"x\", group \"shipping\" 1",
                            "http pause topic \"console-paused\", handler \"ship\" 2");
        }
    }

    @Test
    void theConsoleStaysUpWhileKafkaOrTheDatabaseIsAwayAndSaysTheCause() throws Exception {
        prepare("console_status");
        KAFKA.createTopic("console-status", 1);
        announce("console_status", "console-status");
        send("console-status", "key", "a", "b", "c");
        commit("console-status", 1);
        park("console_status", 1);
        try (ConsoleProcess console = start("console_status")) {
            awaitLag(console, 2);
            JsonObject status = console.get("/status", null, 200);
            assertThat(status.getJsonArray("handlers").getJsonObject(0).getBoolean("running"))
                    .isTrue();
            assertThat(troubles(status)).singleElement().asString().contains("given up", "retry or discard");

            KAFKA.kill();
            JsonObject withoutKafka = console.get("/status", null, 200);
            assertThat(withoutKafka.getString("kafkaUnknown")).contains(KAFKA.bootstrapServers(), "check the brokers");
            assertThat(group(withoutKafka)).doesNotContainKey("lag");
            assertThat(withoutKafka.getJsonArray("parked")).hasSize(1);
            KAFKA.start();
            awaitLag(console, 2);

            POSTGRES.kill();
            JsonObject withoutDatabase = console.get("/status", null, 200);
            assertThat(withoutDatabase.getString("databaseUnknown")).contains("refused");
            assertThat(withoutDatabase).doesNotContainKeys("parked", "version");
            assertThat(console.get("/parked", null, 503).getString("detail")).contains("--url");
            console.post("/parked/retry", "{\"all\":true}", OPERATOR, 503);
            POSTGRES.start();
            awaitLag(console, 2);
            assertThat(console.isAlive()).isTrue();
        } finally {
            start();
        }
    }

    @Test
    void theGrantsOfTheDocumentAreEnoughAndReadingNeedsNoOthers() throws Exception {
        prepare("console_least");
        park("console_least", 2);
        for (String role : List.of("console_reader", "console_operator")) {
            execute("console_least", "create role " + role + " login password '" + POSTGRES.password() + "'");
        }
        execute("console_least", documentedGrants());
        execute("console_least", "revoke insert on inbox_action from console_operator");
        try (ConsoleProcess console = start("console_least", "console_operator")) {
            console.post("/parked/1/retry", "{}", OPERATOR, 503);
            assertThat(query("console_least", "select state from inbox_parked where number = 1"))
                    .as("without its row in the log there is no change")
                    .isEqualTo("dead");
            execute("console_least", "grant insert on inbox_action to console_operator");
            console.post("/parked/1/retry", "{}", OPERATOR, 200);
            console.post("/parked/1/discard", "{}", OPERATOR, 200);
            assertThat(actions(console)).hasSize(2);
        }
        try (ConsoleProcess console = start("console_least", "console_reader")) {
            assertThat(console.get("/status", null, 200)).doesNotContainKey("databaseUnknown");
            assertThat(numbers(console.get("/parked", null, 200))).containsExactly(2);
            awaitState(console, "/events/event-1", "handled");
            console.post("/parked/2/discard", "{}", OPERATOR, 503);
        }
    }

    @Test
    void tablesOfTheVersionBeforeCanBeOperatedOn() throws Exception {
        prepare("console_before");
        park("console_before", 1);
        execute("console_before", "drop table inbox_paused, inbox_action, inbox_replay, inbox_replayed");
        execute("console_before", "delete from inbox_event_history where version::int >= 9");
        try (ConsoleProcess console = start("console_before")) {
            assertThat(console.get("/actions", null, 200).getJsonArray("actions"))
                    .isEmpty();
            assertThat(console.get("/status", null, 200).getString("version")).isEqualTo("8");
            JsonObject retried = console.post("/parked/1/retry", "{}", OPERATOR, 200);
            assertThat(retried.getInt("retried")).isEqualTo(1);
            assertThat(retried.getJsonArray("warnings").toString()).contains("is not recorded: run migrate");
            assertThat(console.post("/pause", "{\"topics\":[\"a\"],\"group\":\"g\"}", OPERATOR, 409)
                            .getString("detail"))
                    .contains("cannot be paused or resumed", "\"inbox_paused\"", "migrate");
            assertThat(console.get("/status", null, 200).getJsonArray("pausedTopics"))
                    .isEmpty();
        }
        assertThat(command("console_before", "parked", "discard", "1")).contains("is not recorded", "1 discarded");
        assertThat(command("console_before", "migrate")).contains("applied 3 migration(s)");
    }

    @Test
    void onAnotherAddressEachCallNeedsATokenAndTheOperatorHasToWantIt() throws Exception {
        prepare("console_open");
        String[] refused = {"console", "--url", POSTGRES.jdbcUrl("console_open"), "--user", POSTGRES.user()};
        System.setProperty("twinbox.console.host", "0.0.0.0");
        try {
            assertThat(run(2, refused)).contains("is not loopback", "twinbox.console.insecure=true");
            System.setProperty("twinbox.console.insecure", "true");
            assertThat(run(2, refused)).contains("every call needs a token", "twinbox.console.operator-token");
        } finally {
            System.clearProperty("twinbox.console.host");
            System.clearProperty("twinbox.console.insecure");
        }
        Map<String, String> open = Map.of("TWINBOX_CONSOLE_HOST", "0.0.0.0", "TWINBOX_CONSOLE_INSECURE", "true");
        try (ConsoleProcess console = ConsoleProcess.start(POSTGRES, "console_open", POSTGRES.user(), open)) {
            console.get("/status", null, 401);
            assertThat(console.get("/status", READER, 200).getString("kafkaUnknown"))
                    .contains("no brokers are configured");
            assertThat(console.page("")).contains("main.js");
            assertThat(console.page("main.js")).contains("./overview.js");
            assertThat(console.page("overview.js")).contains("/status");
        }
    }

    private static String documentedGrants() throws IOException {
        String document = Files.readString(Path.of("..", "..", "docs", "how-to", "security.md"));
        int begin = document.indexOf("```sql", document.indexOf("## Grants in PostgreSQL: operators of an inbox"));
        return document.substring(begin + "```sql".length(), document.indexOf("```", begin + 1));
    }

    private static ConsoleProcess start(String database) throws Exception {
        return start(database, POSTGRES.user());
    }

    private static ConsoleProcess start(String database, String user) throws Exception {
        return ConsoleProcess.start(
                POSTGRES, database, user, Map.of("TWINBOX_INBOX_KAFKA_BOOTSTRAP_SERVERS", KAFKA.bootstrapServers()));
    }

    private static void prepare(String database) throws SQLException {
        POSTGRES.createDatabase(database);
        command(database, "migrate");
    }

    /** The first of a key is given up, the others wait for it. */
    private static void park(String database, int events) throws SQLException {
        execute(database, """
                insert into inbox_parked (consumer_group, handler, event_id, event_type, claims, state, topic, partition,
                                          record_offset, record_key, record_value, header_names, header_values, attempts, error)
                select 'shipping', 'ship', 'event-' || i, 'order.placed', true, case i when 1 then 'dead' else 'behind' end,
                       'orders', 0, i, 'key', '%s', array['h'::bytea], array['v'::bytea], 3,
                       case i when 1 then 'OrderException: no stock' end
                  from generate_series(1, %d) i""".formatted(SECRET, events));
    }

    private static void announce(String database, String topic) throws SQLException {
        execute(
                database,
                "insert into inbox_handler (consumer_group, topic, event_type, handler, delivery) values "
                        + "('shipping', '%1$s', 'order.placed', 'ship', 'exactly_once_effect'), ".formatted(topic)
                        + "('shipping', '%1$s', 'order.paid', 'ship', 'exactly_once_effect')".formatted(topic));
        execute(database, "update inbox_handler set seen_at = clock_timestamp() + interval '1 hour'");
    }

    private static void send(String topic, String key, String... ids) {
        Map<String, Object> settings = Map.of("bootstrap.servers", KAFKA.bootstrapServers());
        try (KafkaProducer<String, String> producer =
                new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
            for (String id : ids) {
                ProducerRecord<String, String> record = new ProducerRecord<>(topic, key, SECRET);
                record.headers().add("ce_id", id.getBytes(StandardCharsets.UTF_8));
                record.headers().add("ce_type", "order.placed".getBytes(StandardCharsets.UTF_8));
                producer.send(record);
            }
        }
    }

    private static void commit(String topic, long offset) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", KAFKA.bootstrapServers()))) {
            admin.alterConsumerGroupOffsets(
                            "shipping", Map.of(new TopicPartition(topic, 0), new OffsetAndMetadata(offset)))
                    .all()
                    .get();
        }
    }

    /** A broker that is slow to answer is not known to have it: the console says so, and is asked again. */
    private static void awaitState(ConsoleProcess console, String path, String state) {
        await(path + " is " + state)
                .atMost(SOON)
                .untilAsserted(() ->
                        assertThat(console.get(path, null, 200)).asString().contains("\"state\":\"" + state + '"'));
    }

    private static void awaitLag(ConsoleProcess console, int lag) {
        await("a lag of " + lag)
                .atMost(SOON)
                .ignoreExceptions()
                .untilAsserted(() -> assertThat(
                                group(console.get("/status", null, 200)).getInt("lag"))
                        .isEqualTo(lag));
    }

    private static JsonObject group(JsonObject status) {
        return status.getJsonArray("groups").getValuesAs(JsonObject.class).stream()
                .filter(each -> each.getString("group").equals("shipping"))
                .findFirst()
                .orElseThrow(() -> new AssertionError(status.toString()));
    }

    private static List<String> troubles(JsonObject status) {
        return status.getJsonArray("troubles").getValuesAs(JsonString::getString).stream()
                .filter(each -> !each.contains("announced") && !each.contains("no running instance"))
                .toList();
    }

    private static List<Integer> numbers(JsonObject page) {
        return page.getJsonArray("parked").getValuesAs(JsonObject.class).stream()
                .map(each -> each.getInt("number"))
                .toList();
    }

    private static List<String> actions(ConsoleProcess console) throws Exception {
        return console.get("/actions", null, 200).getJsonArray("actions").getValuesAs(JsonObject.class).stream()
                .map(each -> each.getString("via") + " " + each.getString("action") + " " + each.getString("selection")
                        + " " + each.getInt("events"))
                .toList();
    }

    /** A command in this process. */
    private static String command(String database, String... command) {
        List<String> all = new ArrayList<>(List.of(command));
        all.addAll(List.of(
                "--url", POSTGRES.jdbcUrl(database), "--user", POSTGRES.user(), "--password=" + POSTGRES.password()));
        return run(0, all.toArray(String[]::new));
    }

    private static String run(int exitCode, String... arguments) {
        StringWriter output = new StringWriter();
        PrintWriter out = new PrintWriter(output, true);
        assertThat(new CommandLine(new InboxCli()).setOut(out).setErr(out).execute(arguments))
                .as(output.toString())
                .isEqualTo(exitCode);
        return output.toString();
    }

    private static void execute(String database, String sql) throws SQLException {
        try (Connection connection = POSTGRES.connect(database);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static String query(String database, String sql) throws SQLException {
        try (Connection connection = POSTGRES.connect(database);
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        }
    }
}
