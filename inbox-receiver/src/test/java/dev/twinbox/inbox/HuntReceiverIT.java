package dev.twinbox.inbox;

import static dev.twinbox.inbox.Hunt.record;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.inbox.app.HuntHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/** A hunt: attacks on one application that has many topics. Each method says what must hold. */
@Tag("proof")
@TestMethodOrder(MethodOrderer.MethodName.class)
class HuntReceiverIT {

    private static final String APP = "hunt";
    private static final Duration SOON = Duration.ofSeconds(45);
    private static Database database;
    private static Topics topics;

    @BeforeAll
    static void deploy() {
        database = new Database(APP);
        topics = new Topics();
        for (String topic : List.of(
                "anew", "anew2", "gone", "wait", "json", "ce", "connect", "pointer", "headers", "list", "once")) {
            Servers.kafka().createTopic("hunt-" + topic, 1);
        }
        MainApp.deploy(app());
    }

    private static TestApp app() {
        return new TestApp(APP, database.name())
                .with(HuntHandlers.class, HuntHandlers.Main.class)
                .with("twinbox.inbox.quick-tries", "2")
                .with("twinbox.inbox.parked.attempts", "5")
                .with("twinbox.inbox.parked.retry.initial", "PT0.1S")
                .with("twinbox.inbox.parked.retry.max", "PT0.4S")
                .with("twinbox.inbox.topic.hunt-connect.value-format", "connect-json")
                .with("twinbox.inbox.topic.hunt-pointer.event-id", "json-pointer:/items/0/id")
                .with("twinbox.inbox.topic.hunt-pointer.event-type", "fixed:pointed");
    }

    @AfterAll
    static void stop() {
        topics.close();
    }

    private static List<String> send(String topic, String prefix, int number) {
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < number; i++) {
            ids.add(prefix + i);
            topics.add(topic, "key", prefix + i, "", 0);
        }
        topics.flush();
        return ids;
    }

    private static Map<String, byte[]> bodies() {
        Map<String, byte[]> bodies = new LinkedHashMap<>();
        bodies.put("null", Topics.bytes("null"));
        bodies.put("bom", Topics.bytes("\uFEFF" + Topics.order("json-bom", "", 0)));
        bodies.put("garbage", Topics.bytes(Topics.order("json-garbage", "", 0) + " x"));
        bodies.put("second", Topics.bytes(Topics.order("json-second", "", 0) + Topics.order("json-second", "", 0)));
        bodies.put("double", Topics.bytes("{\"id\":\"json-no\",\"id\":\"json-double\",\"action\":\"\",\"times\":0}"));
        bodies.put("nan", Topics.bytes("{\"id\":\"json-nan\",\"action\":\"\",\"times\":NaN}"));
        bodies.put("exp", Topics.bytes("{\"id\":\"json-exp\",\"action\":\"\",\"times\":1e999999999}"));
        bodies.put("exp2", Topics.bytes("{\"id\":\"json-exp2\",\"action\":\"\",\"times\":1e99999999999}"));
        bodies.put(
                "long", Topics.bytes("{\"id\":\"json-long\",\"action\":\"\",\"times\":" + "9".repeat(100_000) + "}"));
        bodies.put("utf16", Topics.order("json-utf16", "", 0).getBytes(StandardCharsets.UTF_16));
        bodies.put("array", Topics.bytes("[]"));
        bodies.put("string", Topics.bytes("\"order\""));
        bodies.put("empty", new byte[0]);
        bodies.put("blank", Topics.bytes("  "));
        bodies.put("deep", Topics.bytes("[".repeat(100_000)));
        bodies.put(
                "deepObject",
                Topics.bytes("{\"id\":\"json-deepObject\",\"action\":\"\",\"times\":0,\"x\":" + "{\"a\":".repeat(50_000)
                        + "1" + "}".repeat(50_001)));
        bodies.put(
                "deepArray",
                Topics.bytes("{\"x\":" + "[".repeat(900) + "]".repeat(900)
                        + ",\"id\":\"json-deepArray\",\"action\":\"\",\"times\":0}"));
        bodies.put("wrongTypes", Topics.bytes("{\"id\":{\"a\":1},\"action\":[],\"times\":\"x\"}"));
        bodies.put("tombstone", null);
        return bodies;
    }

    /** 5. Values that are no events: each is parked as dead at once or handled, and the next is handled. */
    @Test
    void c05WrongJson() {
        Map<String, byte[]> bodies = bodies();
        bodies.forEach((name, body) -> {
            ProducerRecord<byte[], byte[]> bad = record("hunt-json", 0, "k-" + name, "json-" + name, "order", "");
            ProducerRecord<byte[], byte[]> raw = new ProducerRecord<>(bad.topic(), 0, bad.key(), body, bad.headers());
            topics.add(raw);
            topics.add("hunt-json", "h-" + name, "healthy-" + name, "", 0);
        });
        topics.flush();
        await().atMost(Duration.ofSeconds(90))
                .untilAsserted(() -> assertThat(database.texts(
                                "select event_id from effect where handler = 'json' and event_id like 'healthy-%'"))
                        .hasSize(bodies.size()));
        Hunt.log("json parked: "
                + database.texts("select event_id || ' ' || state || ' ' || attempts || ' ' || left(error, 160)"
                        + " from inbox_parked where handler = 'json' order by number"));
        Hunt.log("json handled: "
                + database.texts(
                        "select event_id from effect where handler = 'json' and event_id not like 'healthy-%'"));
        assertThat(Hunt.status(APP)).doesNotContain("trouble");
        assertThat(database.texts("select event_id || ' ' || attempts from inbox_parked where handler = 'json'"
                        + " and (state <> 'dead' or attempts > 1)"))
                .as("what cannot be read is dead at once")
                .isEmpty();
    }

    /** 6. Structured CloudEvents and Connect's JSON, nested deeply: parked or handled, and the next is handled. */
    @Test
    void c06DeepCloudEvents() {
        int[] depths = {100, 900, 1_100, 2_500, 5_000, 20_000, 200_000};
        for (int depth : depths) {
            String deep = "[".repeat(depth) + "]".repeat(depth);
            ProducerRecord<byte[], byte[]> event = record(
                    "hunt-ce",
                    0,
                    "k" + depth,
                    null,
                    null,
                    "{\"specversion\":\"1.0\",\"id\":\"deep-" + depth + "\",\"source\":\"/x\",\"type\":\"ce\",\"data\":"
                            + deep + ",\"ext\":" + deep + "}");
            event.headers().add("content-type", Topics.bytes("application/cloudevents+json"));
            topics.add(event);
            topics.add(record("hunt-ce", 0, "h" + depth, "ce-healthy-" + depth, "ce", "x"));
            topics.add(record(
                    "hunt-connect",
                    0,
                    "k" + depth,
                    "deep-" + depth,
                    "ce",
                    "{\"schema\":null,\"payload\":" + deep + "}"));
            topics.add(record("hunt-connect", 0, "h" + depth, "ce-healthy-" + depth, "ce", "\"x\""));
        }
        topics.flush();
        for (String handler : List.of("ce", "connect")) {
            await().atMost(Duration.ofSeconds(60))
                    .untilAsserted(() -> assertThat(database.texts(
                                    "select event_id from effect where handler = ? and event_id like 'ce-healthy-%'",
                                    handler))
                            .hasSize(depths.length));
        }
        Hunt.log("deep parked: "
                + database.texts(
                        "select coalesce(handler, '-') || ' ' || topic || '@' || record_offset || ' ' || state || ' ' || left(error, 120)"
                                + " from inbox_parked where topic in ('hunt-ce', 'hunt-connect') order by number"));
        assertThat(Hunt.status(APP)).doesNotContain("trouble");
    }

    /** 7. Strange CloudEvents headers: nulls, repetitions, line breaks, 5,000 of them. A parked one keeps them all. */
    @Test
    void c07StrangeHeaders() {
        ProducerRecord<byte[], byte[]> event =
                record("hunt-headers", 0, "k", "first-id", "order", Topics.order("x", "runtime", 3));
        event.headers().add("", Topics.bytes("no name"));
        event.headers().add("nothing", null);
        event.headers().add("ce_time", Topics.bytes("yesterday"));
        event.headers().add("ce_source", new byte[0]);
        event.headers().add("ce_id", Topics.bytes("strange\n\u001b[31mid"));
        event.headers().add("long" + "x".repeat(30_000), Topics.bytes("y"));
        event.headers().add("bytes", new byte[] {0, (byte) 0xff, 0, 10});
        for (int i = 0; i < 5_000; i++) {
            event.headers().add("h", Topics.bytes("v" + i));
        }
        ProducerRecord<byte[], byte[]> without = record("hunt-headers", 0, "k2", null, "order", "{}");
        without.headers().add("ce_id", null);
        ProducerRecord<byte[], byte[]> twice =
                record("hunt-headers", 0, "k3", "v-twice", "order", Topics.order("x", "", 0));
        twice.headers().add("ce_specversion", Topics.bytes("0.3"));
        twice.headers().add("ce_specversion", Topics.bytes("1.0"));
        topics.add(event);
        topics.add(without);
        topics.add(twice);
        topics.add(record("hunt-headers", 0, "k4", "h-healthy", "order", Topics.order("x", "", 0)));
        topics.flush();
        await().atMost(SOON)
                .untilAsserted(() -> assertThat(database.effects("headers"))
                        .contains("h-healthy", "v-twice", "strange\n\u001b[31mid"));
        assertThat(database.effects("headers")).doesNotHaveDuplicates();
        assertThat(database.calls("headers", "strange\n\u001b[31mid")).isEqualTo(4);
        assertThat(database.texts("select error from inbox_parked where topic = 'hunt-headers'"))
                .singleElement()
                .asString()
                .contains("ce_id");
    }

    /** 8. A place of the value holds the id, and the value has other shapes: parked, and the next is handled. */
    @Test
    void c08Pointer() {
        List<String> values = List.of(
                "{\"items\":\"text\"}",
                "{\"items\":{\"0\":{\"id\":\"object\"}}}",
                "{\"items\":[]}",
                "{\"items\":null}",
                "{\"items\":[7]}",
                "{\"items\":[{\"id\":1e2}]}",
                "{\"items\":[{\"id\":1.5}]}",
                "{\"items\":[{\"id\":" + "1".repeat(600) + "}]}",
                "{\"items\":[{\"id\":\"\\u0000\"}]}",
                "{\"items\":[{\"id\":\"\\ud800\"}]}",
                "{\"items\":[{\"id\":true}]}",
                "7",
                "[1,2]",
                "");
        for (String value : values) {
            topics.add(record("hunt-pointer", 0, "k", null, null, value));
        }
        topics.add(record("hunt-pointer", 0, "k", null, null, null));
        topics.add(record("hunt-pointer", 0, "k", null, null, "{\"items\":[{\"id\":\"good\"}]}"));
        topics.flush();
        await().atMost(SOON)
                .untilAsserted(() -> assertThat(database.effects("pointer")).contains("good"));
        Hunt.log(
                "pointer handled " + database.effects("pointer") + " parked "
                        + database.texts(
                                "select record_offset || ' ' || state || ' ' || error from inbox_parked where topic = 'hunt-pointer' order by number"));
        assertThat(Hunt.status(APP)).doesNotContain("trouble");
        assertThat(database.effects("pointer").size() + database.count("inbox_parked where topic = 'hunt-pointer'"))
                .isEqualTo(values.size() + 2);
    }

    /** 9. A list handler takes too long because of one event: that one is parked and retried, all have one effect. */
    @Test
    void c09LateList() {
        for (int i = 0; i < 10; i++) {
            topics.add("hunt-list", "k" + i, "l" + i, i == 3 ? "wait" : "", i == 3 ? 2 : 0);
        }
        topics.flush();
        await().atMost(SOON)
                .untilAsserted(() -> assertThat(database.effects("list")).hasSize(10));
        assertThat(database.effects("list")).doesNotHaveDuplicates();
        await().atMost(SOON)
                .untilAsserted(() -> assertThat(database.count("inbox_parked where handler = 'list'"))
                        .isZero());
    }

    /** 10. A type with a line break: it makes no line of its own in the server's log. */
    @Test
    void c10ForgedLogLine() {
        topics.add(record("hunt-headers", 0, "f", "forged-1", "x\nFORGED by type", "{}"));
        topics.add(record("hunt-headers", 0, "f", "forged\nFORGED by id", "order", "no json"));
        topics.flush();
        topics.send(record("hunt-headers", 0, "f2", "f-healthy", "order", Topics.order("x", "", 0)));
        await().atMost(SOON)
                .untilAsserted(() -> assertThat(database.effects("headers")).contains("f-healthy"));
        await().atMost(SOON).until(() -> Servers.payara().log().contains("FORGED by"));
        assertThat(Servers.payara()
                        .log()
                        .lines()
                        .filter(line -> line.startsWith("FORGED"))
                        .toList())
                .isEmpty();
    }

    /** 11. A handler whose own database session is ended: no attempt is lost, one effect. */
    @Test
    void c11SessionEnded() {
        for (int i = 0; i < 6; i++) {
            topics.add(
                    "hunt-wait",
                    "s" + i,
                    "ended" + i,
                    i % 2 == 0 ? "sql:select pg_terminate_backend(pg_backend_pid())" : "",
                    3);
        }
        topics.flush();
        await().atMost(Duration.ofSeconds(90))
                .untilAsserted(() -> assertThat(database.texts(
                                "select event_id from effect where handler = 'wait' and event_id like 'ended%'"))
                        .hasSize(6));
        assertThat(database.effects("wait")).doesNotHaveDuplicates();
    }

    /** 12. A handler that sets the session's search_path, as multi-tenant code does: other events go on. */
    @Test
    void x12SearchPath() throws Exception {
        database.execute("create schema tenant");
        topics.add("hunt-wait", "p1", "path-set", "sql:set search_path to tenant", 1);
        topics.flush();
        Hunt.log("path: effects of wait " + database.effects("wait"));
        await().atMost(SOON)
                .untilAsserted(() -> assertThat(database.effects("wait")).contains("path-set"));
        List<String> ids = send("hunt-wait", "after-path", 20);
        try {
            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(database.effects("wait")).containsAll(ids));
        } finally {
            Hunt.log("path: " + Hunt.status(APP).replace('\n', ' '));
        }
    }

    /** 13. Records of each codec, with the libraries that Kafka's client brings, before and after a redeployment. */
    @Test
    void w13Compression() throws Exception {
        var archive = app().archive();
        archive.addAsLibraries(
                jar("com.github.luben.zstd.Zstd"), jar("org.xerial.snappy.Snappy"), jar("net.jpountz.lz4.LZ4Factory"));
        java.nio.file.Path war =
                java.nio.file.Path.of("target", "hunt-codecs.war").toAbsolutePath();
        archive.as(org.jboss.shrinkwrap.api.exporter.ZipExporter.class).exportTo(war.toFile(), true);
        int sent = 0;
        for (int round = 0; round < 3; round++) {
            Servers.payara().undeploy(APP);
            Servers.payara().deploy(APP, war);
            MainApp.awaitNoTrouble(APP);
            for (String codec : List.of("none", "gzip", "snappy", "lz4", "zstd")) {
                try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                        Map.of("bootstrap.servers", Servers.kafka().bootstrapServers(), "compression.type", codec),
                        new ByteArraySerializer(),
                        new ByteArraySerializer())) {
                    producer.send(record(
                                    "hunt-wait", 0, "c", codec + round, "order", Topics.order(codec + round, "", 0)))
                            .get();
                    sent++;
                }
            }
            int all = sent;
            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(
                                    database.texts(
                                            "select event_id from effect where handler = 'wait' and event_id ~ '^(none|gzip|snappy|lz4|zstd)'"))
                            .hasSize(all));
        }
    }

    private static java.io.File jar(String type) throws Exception {
        return new java.io.File(Class.forName(type)
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
    }
}
