package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.CloudEventHeaders;
import dev.twinbox.inbox.app.ParkingHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Guarantee G4: what can not be handled is set aside, in order, and holds up nobody else. */
class ParkingIT {

    private static final String APP = "parking";
    private static final int ALWAYS = 1_000_000;
    private static final Duration LIMIT = Duration.ofSeconds(150);
    private static final int ATTEMPTS = 5;

    private static Database database;
    private static Topics topics;

    @BeforeAll
    static void deploy() {
        database = new Database(APP);
        database.execute("create table repaired (id int)");
        topics = new Topics();
        Servers.kafka().createTopic(APP, 1);
        MainApp.deploy(new TestApp(APP, database.name())
                .with(ParkingHandlers.class, ParkingHandlers.Plain.class)
                .with("twinbox.inbox.quick-tries", "2")
                .with("twinbox.inbox.batch.size", "10")
                .with("twinbox.inbox.parked.attempts", Integer.toString(ATTEMPTS))
                .with("twinbox.inbox.parked.retry.initial", "PT0.1S")
                .with("twinbox.inbox.parked.retry.max", "PT0.4S"));
    }

    @AfterAll
    static void undeploy() {
        Servers.payara().undeploy(APP);
        topics.close();
    }

    @BeforeEach
    void clean() {
        database.execute("truncate inbox_parked, repaired");
    }

    @Test
    void laterEventsOfItsKeyWaitBehindItInOrderAndAllOthersGoOn() {
        String[] ids = ids(6);
        topics.add(APP, "a", ids[0], "repair", ALWAYS);
        topics.add(APP, "b", ids[1], "", 0);
        topics.add(APP, "a", ids[2], "", 0);
        topics.add(APP, "a", ids[3], "", 0);
        topics.add(APP, ids[4], "", 0);
        topics.flush();
        awaitLagZero();
        topics.add(APP, "a", ids[5], "", 0);
        topics.flush();
        awaitLagZero();

        assertThat(effects()).contains(ids[1], ids[4]).doesNotContain(ids[0], ids[2], ids[3], ids[5]);
        assertThat(database.effects("healthy")).contains(ids);
        awaitState(ids[0], "dead");
        assertThat(database.texts("select event_id from inbox_parked where state = 'behind' order by number"))
                .containsExactly(ids[2], ids[3], ids[5]);
        // One delivered again in the meantime is left where it is.
        topics.add(APP, "a", ids[2], "", 0);
        topics.flush();
        awaitLagZero();
        assertThat(database.count("inbox_parked")).isEqualTo(4);
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(Servers.payara().get("/health/ready"))
                        .startsWith("{\"status\":\"UP\"")
                        .contains("\"parked events dead\":\"1\"", "\"parked events waiting\":\"3\""));

        database.execute("insert into repaired values (1)");
        assertThat(status("redrive=" + number(ids[0]))).isEqualTo("true");
        awaitNothingParked();

        assertThat(effects())
                .containsSubsequence(ids[0], ids[2], ids[3], ids[5])
                .doesNotHaveDuplicates();
        assertThat(database.count("inbox_event where handler = 'parking' and event_id = any (?)", (Object) ids))
                .isEqualTo(6);
    }

    @Test
    void aParkedEventThatSucceedsLaterIsFollowedByItsKeyWithoutAnybodysHelp() {
        String[] ids = ids(3);
        topics.add(APP, "c", ids[0], "checked", ATTEMPTS - 1);
        topics.add(APP, "c", ids[1], "", 0);
        topics.add(APP, "c", ids[2], "error", 3);
        topics.flush();
        awaitLagZero();
        awaitNothingParked();

        assertThat(effects()).containsSubsequence(ids).doesNotHaveDuplicates();
        // In the batch, alone, and what is left of the attempts when it is parked; the batch is not held against it.
        assertThat(database.calls("parking", ids[0])).isEqualTo(ATTEMPTS);
        assertThat(database.calls("parking", ids[1])).isEqualTo(1);
    }

    @Test
    void scenario_27_ERRMSG_whateverIsThrownTheErrorFitsAndTheAttemptsAreRight() {
        String[] actions = {"long", "dirty", "null", "cycle", "hostile"};
        String[] ids = ids(actions.length);
        for (int i = 0; i < actions.length; i++) {
            topics.add(APP, "errmsg-" + i, ids[i], actions[i], ALWAYS);
        }
        String good = Topics.id();
        topics.add(APP, "errmsg", good, "", 0);
        topics.flush();
        awaitLagZero();
        assertThat(effects()).contains(good);

        for (String id : ids) {
            awaitState(id, "dead");
            assertThat(database.texts("select attempts from inbox_parked where event_id = ?", id))
                    .containsExactly(Integer.toString(ATTEMPTS));
        }
        assertThat(error(ids[0]))
                .startsWith("java.lang.IllegalStateException: xxx")
                .endsWith("…")
                .hasSize(2000);
        assertThat(error(ids[1])).isEqualTo("java.lang.IllegalStateException: a\ufffdb\ufffdc");
        assertThat(error(ids[2])).isEqualTo("java.lang.IllegalStateException");
        assertThat(error(ids[3])).startsWith("java.lang.Exception: first <- java.lang.Exception: second <- ");
        assertThat(error(ids[4])).contains("Script$Hostile: its message can not be had, java.lang.StackOverflowError");

        // Given up by a person: it counts as handled, also when it comes again.
        assertThat(status("discard=" + number(ids[0]))).isEqualTo("true");
        assertThat(status("discard=0")).isEqualTo("false");
        long calls = database.calls("parking", ids[0]);
        topics.add(APP, "errmsg-0", ids[0], "long", ALWAYS);
        topics.flush();
        awaitLagZero();
        assertThat(database.calls("parking", ids[0])).isEqualTo(calls);
        assertThat(status("list=")).contains("DEAD " + ids[1] + " true").doesNotContain(ids[0]);
    }

    @Test
    void scenario_28_STARVATION_goodEventsGetTheirTurnBehindManyThatFail() {
        String[] bad = ids(25);
        String[] good = ids(5);
        IntStream.range(0, bad.length).forEach(i -> topics.add(APP, "bad-" + i, bad[i], "runtime", ALWAYS));
        IntStream.range(0, good.length).forEach(i -> topics.add(APP, "good-" + i, good[i], "", 0));
        topics.flush();
        awaitLagZero();

        assertThat(effects()).contains(good);
        assertThat(database.count("inbox_parked")).isEqualTo(bad.length);
        // Nor do those that are dead starve those that are due.
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(database.count("inbox_parked where state = 'dead'"))
                        .isEqualTo(bad.length));
        String late = Topics.id();
        topics.add(APP, "late", late, "checked", 3);
        topics.flush();
        await().atMost(LIMIT).untilAsserted(() -> assertThat(effects()).containsOnlyOnce(late));
    }

    @Test
    void scenario_45_DESER_POISON_eachBadRecordIsOneParkedEventWithAllItHad() {
        List<ProducerRecord<byte[], byte[]>> bad = new ArrayList<>();
        bad.add(record("order", Topics.id(), "{\"id\":"));
        bad.add(record("order", Topics.id(), ""));
        bad.add(record("order", Topics.id(), "[".repeat(10_000)));
        bad.add(new ProducerRecord<>(APP, 0, null, new byte[] {-1, -2, 0}));
        bad.add(record(null, Topics.id(), "{}"));
        bad.add(record("order", null, "{}"));
        bad.add(record("order", "x".repeat(10_000), "{}"));
        ProducerRecord<byte[], byte[]> nullHeader = record("order", null, "{}");
        nullHeader
                .headers()
                .add(CloudEventHeaders.ID, null)
                .add("twice", Topics.bytes("1"))
                .add("twice", null);
        bad.add(nullHeader);
        ProducerRecord<byte[], byte[]> noUtf8 = record(null, Topics.id(), "{}");
        noUtf8.headers().add(CloudEventHeaders.TYPE, new byte[] {-61});
        bad.add(noUtf8);
        bad.add(record("plain", Topics.id(), "{\"id\":\"1\"}"));
        String[] good = ids(100);
        for (int i = 0; i < good.length; i++) {
            if (i % 10 == 5) {
                topics.send(bad.get(i / 10));
            }
            topics.add(APP, "poison-" + i, good[i], "", 0);
        }
        topics.flush();
        awaitLagZero();

        assertThat(effects()).contains(good);
        // Value that can not be read: once for each handler that wants it; no id or type: once.
        assertThat(
                        database.texts(
                                "select state || ' ' || coalesce(handler, 'nobody') || ' ' || error from inbox_parked order by number"))
                .allMatch(text -> text.startsWith("dead "))
                .hasSize(3 * 2 + 6 + 1)
                .anyMatch(text -> text.contains("dead parking") && text.contains("can not be read as dev.twinbox"))
                .anyMatch(text -> text.contains("dead nobody") && text.contains("header ce_id has more than 512 bytes"))
                .anyMatch(text -> text.contains("dead nobody") && text.contains("header ce_id is missing"))
                .anyMatch(text -> text.contains("dead nobody") && text.contains("header ce_id is empty"))
                .anyMatch(text -> text.contains("dead nobody") && text.contains("header ce_type is missing"))
                .anyMatch(text -> text.contains("dead nobody") && text.contains("header ce_type is not UTF-8"))
                .anyMatch(text -> text.contains("dead plain") && text.contains("JSON-B does not know records"));
        assertThat(
                        database.count(
                                "inbox_parked where record_value = '\\xfffe00' and topic = 'parking' and partition = 0 and record_offset > 0"))
                .isEqualTo(1);
        assertThat(database.texts("select array_to_string(header_values, ',', 'null') from inbox_parked "
                        + "where convert_to('twice', 'UTF8') = any (header_names)"))
                .singleElement()
                .satisfies(values -> assertThat(values).endsWith("null,\\x31,null"));
    }

    @Test
    void faultsOfTheDatabaseUseUpNoAttempts() {
        String serialization = Topics.id();
        String deadlock = Topics.id();
        topics.add(APP, "infra-1", serialization, "sql:do 'begin raise sqlstate $$40001$$; end'", ATTEMPTS + 2);
        topics.add(APP, "infra-2", deadlock, "sql:do 'begin raise sqlstate $$40P01$$; end'", ATTEMPTS + 2);
        topics.flush();
        awaitLagZero();

        assertThat(effects()).containsOnlyOnce(serialization, deadlock);
        assertThat(database.count("inbox_parked")).isZero();
    }

    private static ProducerRecord<byte[], byte[]> record(@Nullable String type, @Nullable String id, String value) {
        ProducerRecord<byte[], byte[]> record =
                new ProducerRecord<>(APP, 0, null, value.getBytes(StandardCharsets.UTF_8));
        if (type != null) {
            record.headers().add(CloudEventHeaders.TYPE, Topics.bytes(type));
        }
        if (id != null) {
            record.headers().add(CloudEventHeaders.ID, Topics.bytes(id));
        }
        return record;
    }

    private static String[] ids(int number) {
        return IntStream.range(0, number).mapToObj(i -> Topics.id()).toArray(String[]::new);
    }

    private static List<String> effects() {
        return database.effects("parking");
    }

    private static void awaitLagZero() {
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(topics.lag(APP, APP)).isZero());
    }

    private static void awaitState(String id, String state) {
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(database.texts("select state from inbox_parked where event_id = ?", id))
                        .containsExactly(state));
    }

    private static void awaitNothingParked() {
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(database.count("inbox_parked")).isZero());
    }

    private static String number(String id) {
        return database.texts("select number from inbox_parked where event_id = ?", id)
                .get(0);
    }

    private static String error(String id) {
        return database.texts("select error from inbox_parked where event_id = ?", id)
                .get(0);
    }

    private static String status(String query) {
        return Servers.payara().get("/parking/status?" + query).strip();
    }
}
