package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.RelayProcess;
import dev.twinbox.relay.engine.EngineRig;
import dev.twinbox.relay.engine.Scenario24TooLargeIT;
import jakarta.json.Json;
import jakarta.json.JsonObject;
import jakarta.json.JsonReader;
import jakarta.json.JsonValue;
import java.io.IOException;
import java.io.StringReader;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A stuck key is found, looked at and freed over HTTP, by the API of a real relay. */
@Tag("proof")
class RelayApiIT {
    private static final Duration SOON = Duration.ofSeconds(90);

    /** For 10,000 events, of which Kafka refuses 500. */
    private static final Duration LONG = Duration.ofMinutes(5);

    private static final String OPERATOR = "operator-token-0123456789";
    private static final String READER = "reader-token-0123456789";
    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    @Test
    void aStuckKeyIsFoundAndFreed() throws Exception {
        try (RelayRig rig = RelayRig.create()) {
            EngineRig.setTopic(rig.topic(), "max.message.bytes", "5000");
            RelayProcess relay = rig.startRelay(
                    Map.of("twinbox.relay.http.operator-token", OPERATOR, "twinbox.relay.http.reader-token", READER));
            insert(rig, "k1", "x");
            insertLarge(rig, "k1");
            insert(rig, "k1", "after it");
            insertLarge(rig, "k2");
            await("parked").atMost(SOON).until(() -> rig.count("select count(*) from outbox_parked") == 3);

            JsonObject list = get(relay, "/parked?state=refused&limit=1", null, 200);
            long first = list.getJsonArray("parked")
                    .getJsonObject(0)
                    .getJsonNumber("number")
                    .longValue();
            assertThat(list.getJsonNumber("next").longValue()).isEqualTo(first);
            JsonObject rest = get(relay, "/parked?state=refused&after=" + first, null, 200);
            assertThat(rest.getJsonArray("parked")).hasSize(1);
            assertThat(rest).doesNotContainKey("next");

            JsonObject event = get(relay, "/parked/" + first, null, 200);
            assertThat(event.getString("error")).contains("max.message.bytes");
            assertThat(event.getInt("behind")).isEqualTo(1);
            assertThat(event.toString()).doesNotContain("payload\"");

            assertThat(get(relay, "/parked/" + first + "/payload", null, 403)).containsKey("detail");
            JsonObject payload = get(relay, "/parked/" + first + "/payload", READER, 200);
            assertThat(payload.getInt("bytes")).isEqualTo(20_000);
            assertThat(payload.getString("text")).hasSize(20_000);
            assertThat(payload.getBoolean("isCut")).isFalse();
            assertThat(get(relay, "/parked/999999", null, 404).getInt("status")).isEqualTo(404);

            EngineRig.setTopic(rig.topic(), "max.message.bytes", "1000000");
            String all = "{\"error\":\"MAX.MESSAGE\",\"dryRun\":%s}";
            assertThat(post(relay, "/parked/retry", all.formatted(true), OPERATOR, 200)
                            .toString())
                    .isEqualTo("{\"retried\":2,\"dryRun\":true}");
            assertThat(rig.count("select count(*) from outbox_parked where state = 'refused'"))
                    .isEqualTo(2);
            post(relay, "/parked/retry", all.formatted(false), READER, 403);
            assertThat(post(relay, "/parked/retry", all.formatted(false), OPERATOR, 200)
                            .getInt("retried"))
                    .isEqualTo(2);
            await("sent").atMost(SOON).until(() -> rig.count("select count(*) from outbox_parked") == 0);
            assertThat(post(relay, "/parked/" + first + "/retry", "{}", OPERATOR, 200)
                            .getInt("retried"))
                    .as("again, when it is gone")
                    .isZero();
            JsonObject actions = get(relay, "/actions", null, 200);
            JsonObject action = actions.getJsonArray("actions").getJsonObject(0);
            assertThat(action.getString("who")).isEqualTo("operator");
            assertThat(action.getString("via")).isEqualTo("http");
            assertThat(action.getString("selection")).isEqualTo("error \"MAX.MESSAGE\"");
            assertThat(action.getInt("events")).isEqualTo(2);
            assertThat(actions.getJsonArray("actions")).hasSize(1);
            assertThat(relay.log())
                    .contains("operator has retried 2 parked event(s) over HTTP")
                    .doesNotContain(OPERATOR);
            assertThat(relay.terminate()).as(relay.log()).isZero();
        }
    }

    /** The fastest of many answers counts, because tests share their processors. */
    @Test
    void tenThousandParkedEventsAreListedAtOnceAndFreedByOneRetryInOrder() throws Exception {
        int keys = 500;
        int events = 10_000;
        try (RelayRig rig = RelayRig.create()) {
            EngineRig.setTopic(rig.topic(), "max.message.bytes", "5000");
            try (Connection connection = rig.connect()) {
                connection.setAutoCommit(false);
                for (int i = 0; i < events; i++) {
                    String payload = i < keys ? Scenario24TooLargeIT.incompressible(8_000) : "event " + i;
                    OutboxDatabaseFixture.insert(
                            connection, rig.topic(), "k" + i % keys, payload.getBytes(StandardCharsets.UTF_8));
                }
                connection.commit();
            }
            RelayProcess relay = rig.startRelay(Map.of("twinbox.relay.http.operator-token", OPERATOR));
            await("parked")
                    .atMost(LONG)
                    .untilAsserted(() -> assertThat(rig.count("select count(*) from outbox_parked"))
                            .as(relay.log())
                            .isEqualTo(events));

            JsonObject causes = get(relay, "/causes", null, 200);
            JsonObject cause = causes.getJsonArray("causes").getJsonObject(0);
            assertThat(causes.getJsonArray("causes")).as(causes.toString()).hasSize(1);
            assertThat(List.of(cause.getInt("keys"), cause.getInt("events"), cause.getInt("refused")))
                    .containsExactly(keys, events, keys);
            assertThat(get(relay, "/parked?limit=1000", null, 200).getJsonArray("parked"))
                    .hasSize(1_000);
            for (String path : List.of("/parked", "/parked?limit=1000", "/parked?key=k499", "/causes")) {
                await("in less than 300 ms: " + path)
                        .atMost(SOON)
                        .untilAsserted(() -> assertThat(fastest(relay, path)).isLessThan(Duration.ofMillis(300)));
            }

            EngineRig.setTopic(rig.topic(), "max.message.bytes", "1000000");
            String ofCause = "{\"cause\":\"" + cause.getString("cause") + "\",\"topic\":\"" + rig.topic() + "\"}";
            assertThat(post(relay, "/parked/retry", ofCause, OPERATOR, 200).getInt("retried"))
                    .isEqualTo(keys);
            await("sent").atMost(LONG).until(() -> rig.count("select count(*) from outbox_parked") == 0);
            rig.assertExact();
            assertThat(relay.terminate()).as(relay.log()).isZero();
        }
    }

    private static Duration fastest(RelayProcess relay, String path) throws Exception {
        Duration fastest = Duration.ofDays(1);
        for (int i = 0; i < 10; i++) {
            long begin = System.nanoTime();
            get(relay, path, null, 200);
            Duration time = Duration.ofNanos(System.nanoTime() - begin);
            fastest = time.compareTo(fastest) < 0 ? time : fastest;
        }
        System.out.println("With 10,000 parked events GET " + path + " takes " + fastest.toMillis() + " ms");
        return fastest;
    }

    @Test
    void eventsAreSentAgain() throws Exception {
        try (RelayRig rig = RelayRig.create()) {
            RelayProcess relay = rig.startRelay(
                    Map.of("twinbox.relay.http.operator-token", OPERATOR, "twinbox.relay.http.reader-token", READER));
            rig.insertAndCommit(10);
            rig.awaitRecords(10);
            await("saved")
                    .atMost(SOON)
                    .until(() -> get(relay, "/status", null, 200).getInt("unsent") == 0);
            String body = "{\"from\":%s,\"to\":\"8\",\"topic\":\"" + rig.topic() + "\",\"dryRun\":%s}";
            JsonObject preview = post(relay, "/resend", body.formatted("3", true), OPERATOR, 200);
            assertThat(preview.getInt("events")).isEqualTo(5);
            assertThat(preview.getJsonArray("topics").getJsonObject(0).getBoolean("isCompacted"))
                    .isFalse();
            assertThat(preview).doesNotContainKey("job");
            post(relay, "/resend", body.formatted("3", false), READER, 403);
            for (String wrong : List.of(
                    "{}",
                    "{\"from\":\"yesterday\"}",
                    "{\"from\":3,\"to\":3}",
                    "{\"from\":3,\"topic\":\"a/b\"}",
                    "{\"from\":true}",
                    "{\"from\":3,\"dryRun\":1}",
                    "{\"from\":3,\"all\":true}")) {
                post(relay, "/resend", wrong, OPERATOR, 400);
            }
            int job = post(relay, "/resend", body.formatted("\"3\"", false), OPERATOR, 200)
                    .getInt("job");
            await("finished")
                    .atMost(SOON)
                    .until(() -> get(relay, "/resend", null, 200)
                            .getJsonArray("jobs")
                            .getJsonObject(0)
                            .getString("state")
                            .equals("finished"));
            assertThat(rig.recordCount()).isEqualTo(15);
            assertThat(post(relay, "/resend/" + job + "/cancel", "{}", OPERATOR, 200)
                            .getBoolean("wasActive"))
                    .isFalse();
            assertThat(RelayMetrics.of(relay).value("twinbox_relay_events_resent_total"))
                    .isEqualTo(5);
            assertThat(RelayMetrics.of(relay).value("twinbox_relay_resend_active"))
                    .isZero();
            assertThat(get(relay, "/actions", null, 200).getJsonArray("actions").getValuesAs(JsonObject.class))
                    .extracting(each -> each.getString("action") + ' ' + each.getString("selection"))
                    .containsExactly("resend from \"3\", to \"8\", topic \"" + rig.topic() + '"');
            assertThat(relay.terminate()).as(relay.log()).isZero();
        }
    }

    @Test
    void topicsArePausedAndResumed() throws Exception {
        try (RelayRig rig = RelayRig.create()) {
            RelayProcess relay = rig.startRelay(Map.of("twinbox.relay.http.operator-token", OPERATOR));
            String body = "{\"topics\":[\"" + rig.topic() + "\"]}";
            JsonObject paused = post(relay, "/pause", body, OPERATOR, 200);
            assertThat(post(relay, "/pause", body, OPERATOR, 200))
                    .as("a second time")
                    .isEqualTo(paused);
            assertThat(paused.getJsonArray("topics").getJsonObject(0).getString("pausedSince"))
                    .startsWith("20");
            await("obeyed").atMost(SOON).until(() -> relay.log().contains("\" is paused since "));
            rig.insertAndCommit(1);
            await("parked").atMost(SOON).until(() -> rig.count("select count(*) from outbox_parked") == 1);
            assertThat(get(relay, "/status", null, 200).getJsonArray("pausedTopics"))
                    .isEqualTo(paused.getJsonArray("topics"));
            assertThat(get(relay, "/topics", null, 200)
                            .getJsonArray("topics")
                            .getJsonObject(0)
                            .getString("pausedSince"))
                    .startsWith("20");
            JsonObject cause =
                    get(relay, "/causes", null, 200).getJsonArray("causes").getJsonObject(0);
            assertThat(cause.getString("cause")).isEqualTo("paused");
            assertThat(get(relay, "/parked?cause=paused", null, 200).getJsonArray("parked"))
                    .hasSize(1);

            for (String wrong : List.of(
                    "{\"topics\":[]}",
                    "{\"topics\":[1]}",
                    "{\"topics\":\"t\"}",
                    "{\"topics\":[\"a/b\"]}",
                    "{\"topic\":\"t\"}")) {
                post(relay, "/pause", wrong, OPERATOR, 400);
                post(relay, "/resume", wrong, OPERATOR, 400);
            }
            assertThat(post(relay, "/resume", body, OPERATOR, 200).toString()).contains("\"wasPaused\":true");
            assertThat(post(relay, "/resume", body, OPERATOR, 200).toString()).contains("\"wasPaused\":false");
            rig.awaitRecords(1);
            assertThat(get(relay, "/actions", null, 200).getJsonArray("actions").getValuesAs(JsonObject.class))
                    .extracting(each -> each.getString("action") + ' ' + each.getString("selection"))
                    .containsExactly("resume topic \"" + rig.topic() + '"', "pause topic \"" + rig.topic() + '"');
            assertThat(relay.terminate()).as(relay.log()).isZero();
        }
    }

    @Test
    void statusAndPauseAreThoseOfTheCommandLine() throws Exception {
        try (RelayRig rig = RelayRig.create()) {
            RelayProcess relay = rig.startRelay(Map.of("twinbox.relay.http.operator-token", OPERATOR));
            JsonObject status = get(relay, "/status", null, 200);
            JsonObject printed = json(rig.command(Map.of(), "status", "--json"));
            assertThat(moving(status)).isEqualTo(moving(printed));
            JsonObject described = get(relay, "/openapi.json", null, 200)
                    .getJsonObject("components")
                    .getJsonObject("schemas")
                    .getJsonObject("Status")
                    .getJsonObject("properties");
            assertThat(described.keySet()).containsAll(status.keySet());

            assertThat(post(relay, "/pause", "{}", OPERATOR, 200).getString("pausedSince"))
                    .startsWith("20");
            await("paused").atMost(SOON).until(() -> RelayMetrics.of(relay).value("twinbox_relay_paused") == 1);
            assertThat(get(relay, "/status", null, 200).getJsonArray("stuck").toString())
                    .contains("paused");
            assertThat(post(relay, "/resume", "{}", OPERATOR, 200).getBoolean("wasPaused"))
                    .isTrue();
            assertThat(post(relay, "/resume", "{}", OPERATOR, 200).getBoolean("wasPaused"))
                    .isFalse();
            JsonObject last = get(relay, "/actions?limit=1", null, 200);
            assertThat(last.getJsonArray("actions").toString()).contains("\"action\":\"resume\"");
            JsonObject before = get(relay, "/actions?before=" + last.getInt("next"), null, 200);
            assertThat(before.getJsonArray("actions").toString()).contains("\"action\":\"pause\"");
            await("resumed").atMost(SOON).until(() -> RelayMetrics.of(relay).value("twinbox_relay_paused") == 0);
            assertThat(relay.terminate()).as(relay.log()).isZero();
        }
    }

    @Test
    void onAnotherAddressThereIsNoApiUnlessTheOperatorWantsIt() throws Exception {
        try (RelayRig rig = RelayRig.create()) {
            Map<String, String> everywhere =
                    Map.of("twinbox.relay.http.host", "0.0.0.0", "twinbox.relay.http.operator-token", OPERATOR);
            RelayProcess relay = rig.startRelay(everywhere);
            assertThat(send(relay, "GET", "/status", "", OPERATOR).statusCode()).isEqualTo(404);
            assertThat(relay.log()).contains("twinbox.relay.http.insecure=true");
            assertThat(RelayMetrics.get(relay, "/health/live").statusCode()).isEqualTo(200);
            assertThat(relay.terminate()).isZero();

            Map<String, String> insecure = new HashMap<>(everywhere);
            insecure.put("twinbox.relay.http.insecure", "true");
            RelayProcess open = rig.startRelay(insecure);
            get(open, "/status", null, 401);
            get(open, "/status", OPERATOR, 200);
            assertThat(open.terminate()).isZero();
        }
    }

    /** What does not change between two looks. */
    private static Map<String, JsonValue> moving(JsonObject status) {
        Map<String, JsonValue> rest = new HashMap<>(status);
        assertThat(rest.keySet()).contains("relay", "lease", "slots", "parked", "stuck");
        List.of("lease", "position", "lastSaveSeconds", "slots").forEach(rest::remove);
        return rest;
    }

    private static JsonObject get(RelayProcess relay, String path, String token, int status) throws Exception {
        return answer(send(relay, "GET", path, "", token), status);
    }

    private static JsonObject post(RelayProcess relay, String path, String body, String token, int status)
            throws Exception {
        return answer(send(relay, "POST", path, body, token), status);
    }

    private static JsonObject answer(HttpResponse<String> response, int status) {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
        assertThat(response.headers().firstValue("content-type"))
                .hasValue(status == 200 ? "application/json" : "application/problem+json");
        return json(response.body());
    }

    private static HttpResponse<String> send(RelayProcess relay, String method, String path, String body, String token)
            throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(relay.uri("/api/v1" + path))
                .header("Content-Type", "application/json")
                .method(
                        method,
                        body.isEmpty()
                                ? HttpRequest.BodyPublishers.noBody()
                                : HttpRequest.BodyPublishers.ofString(body));
        if (token != null) {
            request.header("Authorization", "Bearer " + token);
        }
        return CLIENT.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private static JsonObject json(String text) {
        try (JsonReader reader = Json.createReader(new StringReader(text))) {
            return reader.readObject();
        }
    }

    private static void insert(RelayRig rig, String key, String payload) throws SQLException {
        try (Connection connection = rig.connect()) {
            OutboxDatabaseFixture.insert(connection, rig.topic(), key, payload.getBytes(StandardCharsets.UTF_8));
        }
    }

    private static void insertLarge(RelayRig rig, String key) throws SQLException {
        insert(rig, key, Scenario24TooLargeIT.incompressible(20_000));
    }
}
