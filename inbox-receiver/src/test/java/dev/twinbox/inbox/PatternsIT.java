package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.CloudEventHeaders;
import dev.twinbox.inbox.app.PatternHandlers;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the patterns of docs/how-to/patterns.md guarantee, and what they do not. */
@Tag("proof")
class PatternsIT {

    private static final String APP = "patterns";

    /** The worker's statement as the page has it. */
    private static final String TAKE_TASK =
            "delete from task where id = (select id from task order by id limit 1 for update skip locked) "
                    + "returning what";

    private static Database database;
    private static Topics topics;

    @BeforeAll
    static void deploy() {
        database = new Database(APP);
        database.execute("create table booking (payment text primary key)");
        database.execute("create table audit (note text)");
        database.execute("create table customer (id text primary key, version int not null, calls int not null)");
        database.execute("create table task (id bigserial primary key, what text not null)");
        topics = new Topics();
        Servers.kafka().createTopic(APP, 1);
        MainApp.deploy(new TestApp(APP, database.name())
                .with(PatternHandlers.class)
                .with("twinbox.inbox.quick-tries", "1")
                .with("twinbox.inbox.parked.retry.initial", "PT0.1S")
                .with("twinbox.inbox.parked.retry.max", "PT0.2S"));
    }

    @AfterAll
    static void undeploy() {
        Servers.payara().undeploy(APP);
        topics.close();
    }

    @BeforeEach
    void clean() {
        database.execute("truncate booking, audit, customer, task");
    }

    @ParameterizedTest
    @CsvSource({"payment, booking", "ejb-payment, ejb-booking"})
    void aBusinessKeyThatIsDoneLeavesTheEventHandledAndNothingOfItsChanges(String type, String handler) {
        long before = MainApp.status(APP, "alreadyDone");
        String first = Topics.id();
        String second = Topics.id();
        String neighbour = Topics.id();
        add(type, first, "4711", 0);
        add(type, second, "4711", 0); // another event with the same payment
        add(type, neighbour, "4712", 0);
        flush();

        assertThat(database.texts("select payment from booking order by payment"))
                .containsExactly("4711", "4712");
        assertThat(database.texts("select note from audit")).containsExactlyInAnyOrder(first, neighbour);
        assertThat(database.texts("select event_id from inbox_event where handler = ?", handler))
                .contains(first, second, neighbour);
        assertThat(MainApp.status(APP, "alreadyDone")).isEqualTo(before + 1);
        assertThat(database.count("inbox_parked")).isZero();

        // A duplicate is recognised although its handler never succeeded.
        add(type, second, "4711", 0);
        flush();
        assertThat(MainApp.status(APP, "alreadyDone")).isEqualTo(before + 1);
    }

    /** Tests no pattern. It is here because the application is. */
    @Test
    void whatTheReceiverDoesIsAMetricOfTheServer() {
        double before = metric("effects_total");
        add("task", Topics.id(), "", 0);
        flush();

        await().atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(metric("effects_total")).isEqualTo(before + 1));
        for (String name : new String[] {
            "duplicates_total",
            "failures_total",
            "parked_total",
            "expired_total",
            "already_done_total",
            "troubles",
            "notes"
        }) {
            assertThat(metric(name)).as(name).isNotNegative();
        }
        assertThat(metric("parked_dead")).isZero();
    }

    private static double metric(String name) {
        String all = Servers.payara().get("/metrics");
        return all.lines()
                .filter(line -> line.startsWith("twinbox_inbox_" + name + "{") && line.contains("group=\"patterns\""))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .findFirst()
                .orElseThrow(() -> new AssertionError(name + " is not in\n" + all));
    }

    @Test
    void aSnapshotMayComeTwiceAndLateButIsCountedEachTime() {
        String second = Topics.id();
        add("customer", Topics.id(), "c", 1);
        add("customer", second, "c", 2);
        add("customer", second, "c", 2);
        add("customer", Topics.id(), "c", 1);
        flush();

        assertThat(database.texts("select version from customer")).containsExactly("2");
        assertThat(database.texts("select calls from customer"))
                .as("what is not idempotent is repeated")
                .containsExactly("4");
        assertThat(database.count("inbox_event where handler = 'customer'")).isZero();
    }

    @Test
    void anAdvisoryLockKeepsTwoFromOneKeyAndLetsAllOtherKeysGoOn() throws SQLException {
        String held = Topics.id();
        String free = Topics.id();
        try (Connection elsewhere = database.connect()) {
            elsewhere.setAutoCommit(false);
            elsewhere.createStatement().execute("select pg_advisory_xact_lock(hashtextextended('mine', 0))");
            add("locked", held, "mine", 0);
            add("locked", free, "other", 0);
            flush();

            assertThat(notes()).containsExactly(free);
            assertThat(database.texts("select event_id from inbox_parked")).containsExactly(held);
            elsewhere.commit();
        }
        // No thread waited for the lock. The event is retried, after other events.
        await().atMost(MainApp.LIMIT).untilAsserted(() -> assertThat(notes()).containsExactly(free, held));
    }

    @Test
    void aQueueGivesEachTaskToOneWorkerAndBackIfHeDiesButInNoOrder() throws SQLException {
        String[] ids = {Topics.id(), Topics.id(), Topics.id()};
        for (String id : ids) {
            add("task", id, "", 0);
        }
        add("task", ids[0], "", 0); // a duplicate adds no second task
        flush();

        try (Connection one = database.connect();
                Connection other = database.connect()) {
            one.setAutoCommit(false);
            other.setAutoCommit(false);
            assertThat(take(one)).isEqualTo(ids[0]);
            assertThat(take(other)).isEqualTo(ids[1]);
            other.commit();
            one.rollback(); // the worker died: its task is free again, after a later one
            assertThat(take(other)).isEqualTo(ids[0]);
            other.commit();
        }
        assertThat(database.texts("select what from task")).containsExactly(ids[2]);
    }

    private static String take(Connection connection) throws SQLException {
        try (ResultSet row = connection.createStatement().executeQuery(TAKE_TASK)) {
            row.next();
            return row.getString(1);
        }
    }

    private static List<String> notes() {
        return database.texts("select note from audit");
    }

    private static void add(String type, String id, String action, int times) {
        ProducerRecord<byte[], byte[]> record =
                new ProducerRecord<>(APP, 0, null, Topics.bytes(Topics.order(id, action, times)));
        record.headers().add(CloudEventHeaders.ID, Topics.bytes(id)).add(CloudEventHeaders.TYPE, Topics.bytes(type));
        topics.add(record);
    }

    private static void flush() {
        topics.flush();
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(topics.lag(APP, APP)).isZero());
    }
}
