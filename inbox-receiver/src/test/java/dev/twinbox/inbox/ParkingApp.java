package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.inbox.app.ParkingHandlers;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

/** An application whose events fail in many ways. It is deployed once for all tests of failures. */
final class ParkingApp {

    static final String APP = "parking";
    static final int ALWAYS = 1_000_000;
    static final Duration LIMIT = Duration.ofSeconds(150);
    static final int ATTEMPTS = 5;

    private ParkingApp() {}

    /** A class of its own: a thread that waits for its initialisation must not need it. */
    private static final class Deployed {
        static final Database DATABASE = new Database(APP);
        static final Topics TOPICS = new Topics();

        static {
            DATABASE.execute("create table repaired (id int)");
            Servers.kafka().createTopic(APP, 1);
            MainApp.deploy(new TestApp(APP, DATABASE.name())
                    .with(ParkingHandlers.class, ParkingHandlers.Plain.class)
                    .with("twinbox.inbox.quick-tries", "2")
                    .with("twinbox.inbox.batch.size", "10")
                    .with("twinbox.inbox.parked.attempts", Integer.toString(ATTEMPTS))
                    .with("twinbox.inbox.parked.retry.initial", "PT0.1S")
                    .with("twinbox.inbox.parked.retry.max", "PT0.4S"));
        }
    }

    static Database database() {
        return Deployed.DATABASE;
    }

    static Topics topics() {
        return Deployed.TOPICS;
    }

    /** Called before each test. */
    static void clean() {
        database().execute("truncate inbox_parked, repaired");
    }

    static String[] ids(int number) {
        return IntStream.range(0, number).mapToObj(i -> Topics.id()).toArray(String[]::new);
    }

    static List<String> effects() {
        return database().effects("parking");
    }

    static void awaitLagZero() {
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(topics().lag(APP, APP)).isZero());
    }

    static void awaitState(String id, String state) {
        await().atMost(LIMIT)
                .untilAsserted(
                        () -> assertThat(database().texts("select state from inbox_parked where event_id = ?", id))
                                .containsExactly(state));
    }

    static void awaitNothingParked() {
        await().atMost(LIMIT)
                .untilAsserted(
                        () -> assertThat(database().count("inbox_parked")).isZero());
    }

    static String number(String id) {
        return database()
                .texts("select number from inbox_parked where event_id = ?", id)
                .get(0);
    }

    static String error(String id) {
        return database()
                .texts("select error from inbox_parked where event_id = ?", id)
                .get(0);
    }

    static String status(String query) {
        return Servers.payara().get("/parking/status?" + query).strip();
    }
}
