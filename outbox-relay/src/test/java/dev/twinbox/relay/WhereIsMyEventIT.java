package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.RelayProcess;
import dev.twinbox.relay.engine.EngineRig;
import dev.twinbox.relay.engine.Scenario24TooLargeIT;
import jakarta.json.Json;
import jakarta.json.JsonObject;
import jakarta.json.JsonReader;
import java.io.StringReader;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Where an event is, asked over HTTP and on the command line, at each station of its way. */
@Tag("proof")
class WhereIsMyEventIT {
    private static final Duration SOON = Duration.ofSeconds(90);
    private static final String OPERATOR = "operator-token-0123456789";

    @Test
    void eachStationHasItsAnswer() throws Exception {
        try (RelayRig rig = RelayRig.create();
                Connection connection = rig.connect()) {
            EngineRig.setTopic(rig.topic(), "max.message.bytes", "5000");
            RelayProcess relay = rig.startRelay(Map.of("twinbox.relay.http.operator-token", OPERATOR));
            UUID sent = insert(connection, rig.topic(), "k1", "x");
            UUID refused = insert(connection, rig.topic(), "k2", Scenario24TooLargeIT.incompressible(20_000));
            UUID behind = insert(connection, rig.topic(), "k2", "behind it");
            UUID waiting = insert(connection, rig.topic() + "-missing", "k3", "x");
            UUID scheduled = schedule(connection, rig.topic());
            await("parked").atMost(SOON).until(() -> rig.count("select count(*) from outbox_parked") == 3);
            rig.awaitRecords(1);

            ConsumerRecord<byte[], byte[]> record = rig.records().get(0);
            await("the position is saved")
                    .atMost(SOON)
                    .until(() ->
                            get(relay, "/events/" + sent).getString("state").equals("sent"));
            assertThat(records(get(relay, "/events/" + sent)))
                    .containsExactly(rig.topic() + " " + record.partition() + " " + record.offset());
            assertThat(get(relay, "/events/" + refused).getJsonObject("parked").getString("error"))
                    .contains("max.message.bytes");
            assertStates(rig, relay, Map.of(sent, "sent", refused, "parked", behind, "parked", waiting, "waiting"));
            assertStates(rig, relay, Map.of(scheduled, "scheduled", UUID.randomUUID(), "not-here"));
            assertThat(get(relay, "/events/" + scheduled).getString("deliverAt"))
                    .isEqualTo("2031-01-01T00:00:00Z");

            JsonObject ofKey = get(relay, "/events?key=k2");
            assertThat(ofKey.getJsonArray("events").getValuesAs(JsonObject.class))
                    .extracting(each -> each.getString("id"))
                    .containsExactly(behind.toString(), refused.toString());

            assertThat(rig.command(Map.of(), "pause")).contains("is paused");
            await("paused").atMost(SOON).until(() -> RelayMetrics.of(relay).value("twinbox_relay_paused") == 1);
            UUID unsent = insert(connection, rig.topic(), "k1", "later");
            assertStates(rig, relay, Map.of(unsent, "unsent"));
            connection.setAutoCommit(false);
            UUID uncommitted = insert(connection, rig.topic(), "k1", "never");
            assertStates(rig, relay, Map.of(uncommitted, "not-here"));
            connection.rollback();
            connection.setAutoCommit(true);

            topics(rig, relay);
            rig.execute("delete from outbox_position");
            await("Kafka has it, and no position says so")
                    .atMost(SOON)
                    .until(() ->
                            get(relay, "/events/" + sent).getString("state").equals("in-flight"));
            emptied(rig, relay, sent);
            assertThat(relay.terminate()).as(relay.log()).isZero();
        }
    }

    /** Searches are the most expensive calls: whoever asks often must not keep the relay from its database. */
    @Test
    void oneSearchRunsAtATimeAndEndsInTime() throws Exception {
        try (RelayRig rig = RelayRig.create();
                Connection connection = rig.connect()) {
            RelayProcess relay = rig.startRelay(Map.of("twinbox.relay.http.operator-token", OPERATOR));
            connection.setAutoCommit(false);
            OutboxDatabaseFixture.execute(connection, "lock table outbox_event in access exclusive mode");
            HttpRequest search = HttpRequest.newBuilder(relay.uri("/api/v1/events/" + UUID.randomUUID()))
                    .build();
            HttpClient client = HttpClient.newHttpClient();
            List<HttpResponse<String>> answers = Stream.of(search, search)
                    .map(each -> client.sendAsync(each, HttpResponse.BodyHandlers.ofString()))
                    .toList()
                    .stream()
                    .map(CompletableFuture::join)
                    .sorted(Comparator.comparing(HttpResponse::statusCode))
                    .toList();
            assertThat(answers).extracting(HttpResponse::statusCode).containsExactly(200, 503);
            assertThat(json(answers.get(0).body()).getBoolean("isCut")).isTrue();
            assertThat(answers.get(1).body()).contains("Another search");
            connection.rollback();
            assertThat(relay.terminate()).as(relay.log()).isZero();
        }
    }

    private static void topics(RelayRig rig, RelayProcess relay) throws Exception {
        JsonObject answer = get(relay, "/topics");
        List<JsonObject> topics = answer.getJsonArray("topics").getValuesAs(JsonObject.class);
        assertThat(topics).hasSize(2);
        assertThat(topics.get(0))
                .hasToString(
                        "{\"topic\":\"" + rig.topic()
                                + "\",\"hasUnsent\":true,\"parked\":{\"refused\":1,\"behind\":1},\"partitions\":3,\"leaderless\":[]}");
        assertThat(topics.get(1))
                .hasToString(
                        "{\"topic\":\"" + rig.topic() + "-missing\",\"hasUnsent\":false,\"parked\":{\"waiting\":1},"
                                + "\"problem\":\"create it, the relay never does\"}");
        assertThat(answer.getString("pausedSince")).startsWith("20");
        assertThat(answer.getBoolean("isCut")).isFalse();
        assertThat(json(rig.command(Map.of(), "topics", "--json"))).isEqualTo(answer);
        assertThat(rig.command(Map.of(), "topics"))
                .contains(
                        rig.topic() + "\tyes\t1 refused, 1 behind\t-\t3 partitions\n",
                        rig.topic() + "-missing\t-\t1 waiting\t-\tcreate it, the relay never does\n",
                        "an operator has paused the relay");
    }

    /** The rows are gone. What is on Kafka is found there, by the topic, and by a key. */
    private static void emptied(RelayRig rig, RelayProcess relay, UUID sent) throws Exception {
        rig.execute("truncate outbox_event");
        assertThat(get(relay, "/events/" + sent).getString("state"))
                .as("nothing names a topic any more")
                .isEqualTo("not-here");
        String onTopic = "/events/" + sent + "?topic=" + rig.topic();
        await("Kafka has answered in time")
                .atMost(SOON)
                .until(() -> get(relay, onTopic).getString("state").equals("sent"));
        JsonObject found = get(relay, onTopic);
        assertThat(records(found)).hasSize(1);
        assertThat(get(relay, "/events?key=k1&topic=" + rig.topic())
                        .getJsonArray("events")
                        .getValuesAs(JsonObject.class))
                .singleElement()
                .satisfies(each -> {
                    assertThat(each.getString("id")).isEqualTo(sent.toString());
                    assertThat(each.getString("state")).isEqualTo("sent");
                });
        assertThat(rig.command(Map.of(), "events", "list", "--key", "k1", "--topic", rig.topic()))
                .contains(sent + "\tsent\t" + rig.topic());
        JsonObject missing = get(relay, "/events/" + sent + "?topic=" + rig.topic() + "-missing");
        assertThat(missing.getString("state")).isEqualTo("not-here");
        assertThat(missing.getBoolean("isCut")).isTrue();
        assertThat(missing.getJsonArray("searched").toString()).contains("create it, Twinbox never does");
    }

    /** The API and the command line have one answer. */
    private static void assertStates(RelayRig rig, RelayProcess relay, Map<UUID, String> states) throws Exception {
        for (Map.Entry<UUID, String> each : states.entrySet()) {
            String id = each.getKey().toString();
            JsonObject answer = get(relay, "/events/" + id);
            assertThat(answer.getString("state")).as(answer.toString()).isEqualTo(each.getValue());
            assertThat(answer.getString("id")).isEqualTo(id);
            assertThat(rig.command(Map.of(), "events", "show", id))
                    .containsPattern("state +" + each.getValue())
                    .contains("searched ");
            assertThat(json(rig.command(Map.of(), "events", "show", id, "--json"))
                            .getString("state"))
                    .isEqualTo(each.getValue());
        }
    }

    private static List<String> records(JsonObject answer) {
        return answer.getJsonArray("records").getValuesAs(JsonObject.class).stream()
                .map(each -> each.getString("topic") + " " + each.getInt("partition") + " " + each.getInt("offset"))
                .toList();
    }

    private static UUID insert(Connection connection, String topic, String key, String payload) throws SQLException {
        return OutboxDatabaseFixture.insert(connection, topic, key, payload.getBytes(StandardCharsets.UTF_8));
    }

    private static UUID schedule(Connection connection, String topic) throws SQLException {
        return UUID.fromString(OutboxDatabaseFixture.query(
                connection,
                "insert into outbox_scheduled (deliver_at, id, topic, key, type, source, occurred_at, content_type)"
                        + " values ('2031-01-01Z', gen_random_uuid(), '" + topic
                        + "', 'k4', 't', '/s', now(), 'text/plain') returning id"));
    }

    private static JsonObject get(RelayProcess relay, String path) throws Exception {
        HttpRequest request =
                HttpRequest.newBuilder(relay.uri("/api/v1" + path)).build();
        HttpResponse<String> answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return json(answer.body());
    }

    private static JsonObject json(String text) {
        try (JsonReader reader = Json.createReader(new StringReader(text))) {
            return reader.readObject();
        }
    }
}
