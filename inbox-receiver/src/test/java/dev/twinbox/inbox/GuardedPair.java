package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.inbox.app.GuardedHandlers;
import java.util.function.UnaryOperator;

/** Two instances of an application with guarded handlers. Each has one of the two partitions of the topic. */
final class GuardedPair implements AutoCloseable {

    /** As {@link GuardedHandlers} says. */
    private static final String TOPIC = "guarded";

    /** Created once in a JVM: each pair has a group of its own, which begins at the start. */
    private static final class CreatedTopic {
        static {
            Servers.kafka().createTopic(TOPIC, 2);
        }

        static String name() {
            return TOPIC;
        }
    }

    private final String group;
    private final Database database;
    private final Topics topics = new Topics();

    /**
     * Deploys both and waits until each has its partition.
     *
     * @param group also the name of the database
     * @param configuration what they have beside the usual
     */
    GuardedPair(String group, UnaryOperator<TestApp> configuration) {
        this.group = group;
        database = new Database(group);
        String topic = CreatedTopic.name();
        deploy(group + "-a", configuration);
        deploy(group + "-b", configuration);
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(topics.owners(group, topic)).hasSize(2));
    }

    private void deploy(String name, UnaryOperator<TestApp> configuration) {
        TestApp app = new TestApp(name, database.name())
                .with("twinbox.inbox.group", group)
                .with(GuardedHandlers.class);
        MainApp.deploy(configuration.apply(app));
    }

    Database database() {
        return database;
    }

    /** Both get the event, and the first one waits at the gate. */
    void sendToBoth(String id, String type, int gate) {
        send(0, id, type, "gate:" + gate, 1);
        send(1, id, type, "gate:" + gate, 1);
        await().atMost(MainApp.LIMIT).until(() -> database.waiting(gate) == 1);
    }

    /** One of them gets an event that does not wait. */
    String sendFree(int partition, String type) {
        String id = Topics.id();
        send(partition, id, type, "", 0);
        return id;
    }

    /** One of them gets events that do not wait, in one batch. */
    void sendFreeTogether(String... ids) {
        topics.sendTogether(TOPIC, ids);
    }

    private void send(int partition, String id, String type, String action, int times) {
        topics.send(TOPIC, partition, id, type, Topics.order(id, action, times));
    }

    /** Waits until the group has committed all that was sent. */
    void awaitHandled() {
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(topics.lag(group, TOPIC)).isZero());
    }

    long effects(String handler, String id) {
        return database.count("effect where handler = ? and event_id = ?", handler, id);
    }

    /** How many instances wait in the database for the other one's claim. */
    long waitingForAClaim() {
        return database.count("pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' "
                + "and query like '-- inbox: claim%'");
    }

    /** How often the table of locks was read. */
    long scansOfTheLocks() {
        return Long.parseLong(database.texts(
                        "select seq_scan + coalesce(idx_scan, 0) from pg_stat_all_tables where relname = 'inbox_lock'")
                .get(0));
    }

    /** Each refusal is a transaction that finds the row of the lock and grants nothing. */
    void awaitRefusalsByTheDatabase() {
        long before = scansOfTheLocks();
        await().atMost(MainApp.LIMIT).until(() -> scansOfTheLocks() > before + 2);
    }

    @Override
    public void close() {
        Servers.payara().undeploy(group + "-a");
        Servers.payara().undeploy(group + "-b");
        topics.close();
    }
}
