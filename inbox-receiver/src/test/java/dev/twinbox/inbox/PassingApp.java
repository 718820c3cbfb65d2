package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.inbox.app.PassingHandler;
import dev.twinbox.inbox.server.PayaraHost;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/** An application that is deployed and undeployed, with its own server and database. */
final class PassingApp implements AutoCloseable {

    static final String NAME = "passing";

    private static final Duration UNDEPLOY_LIMIT = Duration.ofSeconds(30);
    /** Sent in each round: more than two batches for each partition. Half are left when the work counts as begun. */
    private static final int EVENTS = 100;

    private static final AtomicInteger COUNT = new AtomicInteger();

    final Database database = new Database(NAME + COUNT.incrementAndGet());
    final Topics topics = new Topics();
    final PayaraHost payara = Servers.newPayara();
    private long sent;

    PassingApp() {
        if (COUNT.get() == 1) {
            Servers.kafka().createTopic(NAME, 2);
        }
    }

    void deploy() {
        String log = payara.deploy(NAME, app().build());
        assertThat(payara.status("/passing/status")).as(log).isEqualTo(200);
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(payara.get("/passing/status")).doesNotContain("trouble"));
    }

    TestApp app() {
        return new TestApp(NAME, database.name())
                .with(PassingHandler.class)
                .with("twinbox.inbox.batch.size", "20")
                .with("twinbox.inbox.shutdown-timeout", "PT5S");
    }

    void undeploy() {
        long begin = System.nanoTime();
        payara.undeploy(NAME);
        assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(UNDEPLOY_LIMIT);
    }

    /** Sends events. Returns when the application is handling them. */
    void startWork() {
        topics.sendMany(NAME, 0, EVENTS / 2);
        topics.sendMany(NAME, 1, EVENTS / 2);
        sent += EVENTS;
        await().atMost(MainApp.LIMIT).until(() -> database.count("effect") >= sent - EVENTS / 2);
    }

    void assertNothingIsLeft() {
        assertThat(payara.control().threads()).isEmpty();
        assertThat(payara.control().mbeans()).isEmpty();
    }

    /** Checks all events that {@link #startWork} has sent. Deploys once more to handle the rest. */
    void assertEachEffectOnce() {
        deploy();
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(topics.lag(NAME, NAME)).isZero());
        assertThat(database.count("effect")).isEqualTo(sent);
        assertThat(database.texts("select count(distinct event_id) from effect"))
                .containsExactly(Long.toString(sent));
        undeploy();
    }

    /**
     * Payara itself may keep two of five or more class loaders, as heap dumps show. One belongs to the thread of its
     * transaction recovery: the server's first transaction started it, with the application's class loader as context.
     * The other one belongs to the timer that resizes connection pools: it keeps the last application's pool and
     * driver.
     */
    void assertNoClassLoadersAreLeft() {
        assertThat(payara.control().loadersLeft(Duration.ofSeconds(30))).isLessThanOrEqualTo(2);
    }

    @Override
    public void close() {
        payara.close();
        Servers.kafka().start();
        Servers.postgres().start();
        topics.close();
    }
}
