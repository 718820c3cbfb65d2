package dev.twinbox.inbox;

import static dev.twinbox.inbox.Hunt.record;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.inbox.app.HuntHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/** A hunt: attacks on applications that come, go, and come again with other handlers or another configuration. */
@Tag("proof")
@TestMethodOrder(MethodOrderer.MethodName.class)
class HuntDeployIT {

    private static final Duration SOON = Duration.ofSeconds(45);
    private static Topics topics;
    private final List<String> deployed = new ArrayList<>();

    @BeforeAll
    static void open() {
        topics = new Topics();
    }

    @AfterAll
    static void close() {
        topics.close();
    }

    @AfterEach
    void undeployAll() {
        deployed.forEach(app -> Servers.payara().undeploy(app));
        deployed.clear();
    }

    private void deploy(TestApp app) {
        deployed.add(app.name());
        MainApp.deploy(app);
    }

    private void undeploy(String app) {
        Servers.payara().undeploy(app);
        deployed.remove(app);
    }

    private static void createTopic(String name, int partitions) {
        try (Admin admin = Hunt.admin()) {
            if (admin.listTopics().names().get().contains(name)) {
                admin.deleteTopics(List.of(name)).all().get();
                Thread.sleep(500);
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        Servers.kafka().createTopic(name, partitions);
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

    private static TestApp alias(String app, Database database) {
        return new TestApp(app, database.name())
                .with("twinbox.inbox.group", "hunt-alias")
                .with("twinbox.inbox.kafka.session.timeout.ms", "6000");
    }

    private static void sendAliases(String prefix, int keys) {
        for (int i = 0; i < keys; i++) {
            String key = "key" + prefix + i;
            topics.add(
                    record("hunt-alias", 0, key, prefix + i + "-1", "former", Topics.order(prefix + i + "-1", "", 0)));
            topics.add(
                    record("hunt-alias", 0, key, prefix + i + "-2", "current", Topics.order(prefix + i + "-2", "", 0)));
            topics.add(
                    record("hunt-alias", 0, key, prefix + i + "-3", "former", Topics.order(prefix + i + "-3", "", 0)));
        }
        topics.flush();
    }

    private static Map<String, List<String>> byKey(Database database, String prefix) {
        Map<String, List<String>> effects = new LinkedHashMap<>();
        for (String id : database.effects("alias")) {
            if (id.startsWith(prefix)) {
                effects.computeIfAbsent(id.substring(0, id.indexOf('-')), k -> new ArrayList<>())
                        .add(id);
            }
        }
        return effects;
    }

    /** 17. The same while instances of both versions run. */
    @Test
    void b17RenamedTypeKeepsOrderWithBothVersions() {
        createTopic("hunt-alias", 1);
        Database database = new Database("hunt_alias_both");
        TestApp old = alias("alias-old", database).with("twinbox.inbox.group", "hunt-alias-both");
        TestApp latest = alias("alias-new", database).with("twinbox.inbox.group", "hunt-alias-both");
        deploy(old.with(HuntHandlers.class, HuntHandlers.FormerType.class));
        sendAliasesWarmUp(database);
        deploy(latest.with(
                HuntHandlers.class, HuntHandlers.NewType.class)); // the only partition stays with the old one
        for (int round = 0; round < 10; round++) {
            sendAliases("b" + round, 3);
        }
        await().atMost(Duration.ofSeconds(90))
                .until(() -> database.effects("alias").size() >= 91);
        List<String> wrong = new ArrayList<>();
        byKey(database, "b").forEach((key, ids) -> {
            if (!ids.equals(List.of(key + "-1", key + "-2", key + "-3"))) {
                wrong.add(ids.toString());
            }
        });
        Hunt.log("alias, both: out of order " + wrong);
        assertThat(wrong).isEmpty();
    }

    private static void sendAliasesWarmUp(Database database) {
        topics.send(record("hunt-alias", 0, "w", "w-1", "former", Topics.order("w-1", "", 0)));
        Hunt.awaitEffects(database, "alias", 1, SOON);
    }

    private static TestApp fails(String name, Database database) {
        return new TestApp(name, database.name())
                .with(HuntHandlers.class, HuntHandlers.Plain.class)
                .with("twinbox.inbox.quick-tries", "1")
                .with("twinbox.inbox.parked.retry.initial", "PT0.1S")
                .with("twinbox.inbox.parked.retry.max", "PT0.2S");
    }

    private static TestApp least(String name, Database database) {
        return new TestApp(name, database.name()).with(HuntHandlers.class, HuntHandlers.AtLeast.class);
    }

    /**
     * 22. An instance loses a partition in the middle of a call that then fails. The next owner has handled the key's events
     * meanwhile. The former owner does not call its handler again with the oldest of them.
     */
    @Test
    void d22FormerOwnerGoesOn() throws Exception {
        createTopic("hunt-least", 2);
        Database database = new Database("hunt_zombie");
        deploy(least("zombie-a", database)
                .with("twinbox.inbox.group", "hunt-zombie")
                .with("twinbox.inbox.shutdown-timeout", "PT1S"));
        try (Database.Gate gate = database.shutGate(22)) {
            for (int partition = 0; partition < 2; partition++) {
                for (int i = 1; i <= 3; i++) {
                    topics.add(
                            "hunt-least",
                            partition,
                            "k",
                            "z" + partition + "-" + i,
                            i == 1 ? "gate-then-throw:22" : "",
                            1);
                }
            }
            topics.flush();
            await().atMost(SOON).until(() -> database.waiting(22) == 2);
            deployed.add("zombie-b");
            TestApp b = least("zombie-b", database).with("twinbox.inbox.group", "hunt-zombie");
            Servers.payara().deploy("zombie-b", b.build());
            await().atMost(Duration.ofSeconds(60))
                    .until(() -> database.effects("least").size() == 3);
        }
        Thread.sleep(5_000);
        List<String> effects = database.effects("least");
        Hunt.log(
                "former owner: " + effects + " parked " + database.texts("select event_id || state from inbox_parked"));
        String moved = effects.get(0).substring(0, 2);
        List<String> ofMoved =
                effects.stream().filter(id -> id.startsWith(moved)).toList();
        assertThat(ofMoved.get(ofMoved.size() - 1))
                .as("the last effect of the key")
                .isEqualTo(moved + "-3");
    }

    /** 24. A database whose transactions are serializable: each event once, in order of its key, none dead. */
    @Test
    void d24Serializable() {
        createTopic("hunt-plain", 2);
        Database database = new Database("hunt_ser");
        database.execute("alter database hunt_ser set default_transaction_isolation = 'serializable'");
        deploy(fails("ser", database).with("twinbox.inbox.lanes", "2"));
        Map<String, List<String>> sent = new LinkedHashMap<>();
        for (int i = 0; i < 300; i++) {
            String key = "k" + i % 10;
            String id = "ser-" + key + "-" + i;
            sent.computeIfAbsent(key, k -> new ArrayList<>()).add(id);
            topics.add("hunt-plain", i % 2, key, id, i % 15 == 0 ? "runtime" : "", i % 15 == 0 ? 3 : 0);
            if (i % 50 == 49) {
                topics.flush();
            }
        }
        await().atMost(Duration.ofSeconds(120))
                .until(() -> database.effects("plain").size() >= 300);
        List<String> effects = database.effects("plain");
        assertThat(effects).doesNotHaveDuplicates();
        sent.forEach((key, ids) ->
                assertThat(effects.stream().filter(ids::contains).toList()).isEqualTo(ids));
        await().atMost(SOON).until(() -> database.count("inbox_parked") == 0);
    }

    private void oneEffect(String name, Class<?>... classes) {
        createTopic("hunt-" + name, 1);
        Database database = new Database("hunt_" + name);
        TestApp app =
                new TestApp(name, database.name()).with(HuntHandlers.class).with(classes);
        deployed.add(name);
        String log = Servers.payara().deploy(name, app.build());
        if (Servers.payara().status("/" + name + "/status") != 200) {
            Hunt.log(name + " refused: "
                    + log.lines()
                            .filter(line -> line.contains("HuntHandlers"))
                            .limit(3)
                            .toList());
            deployed.remove(name);
            return;
        }
        MainApp.awaitNoTrouble(name);
        topics.add("hunt-" + name, "k1", "first", "", 0);
        topics.add("hunt-" + name, "k2", "second", "runtime", 1);
        topics.flush();
        await().atMost(SOON).until(() -> topics.lag(name, "hunt-" + name) == 0 && database.count("inbox_parked") == 0);
        Hunt.log(name + ": " + database.effects(name));
        assertThat(database.effects(name)).containsExactlyInAnyOrder("first", "second");
    }

    /** 28. Wrong configuration: the deployment is refused and the message names the key. */
    @Test
    void f28WrongConfiguration() {
        Database database = new Database("hunt_config");
        List<String> silent = new ArrayList<>();
        Map<String, String> wrong = new LinkedHashMap<>();
        wrong.put("twinbox.inbox.batch.sise", "5");
        wrong.put("twinbox.inbox.topic.nosuch.event-id", "key");
        wrong.put("twinbox.inbox.lanes", "9");
        wrong.put("twinbox.inbox.handler-timeout", "5s");
        wrong.put("twinbox.inbox.retention", "P1D");
        wrong.put("twinbox.inbox.kafka.max.poll.interval.ms", "1");
        wrong.put("twinbox.inbox.kafka.group.instance.id", "node-1");
        createTopic("hunt-plain", 1);
        int number = 0;
        for (Map.Entry<String, String> entry : wrong.entrySet()) {
            String name = "config" + number++;
            TestApp app = new TestApp(name, database.name())
                    .with(HuntHandlers.class, HuntHandlers.Plain.class)
                    .with(entry.getKey(), entry.getValue());
            String log = Servers.payara().deploy(name, app.build());
            boolean refused = Servers.payara().status("/" + name + "/status") != 200;
            Hunt.log(entry
                    + (refused ? " refused: " : " deployed: ")
                    + log.lines()
                            .filter(line -> line.contains(entry.getKey()))
                            .findFirst()
                            .orElse("without the key"));
            if (refused && !log.contains(entry.getKey())) {
                silent.add(entry.getKey());
            }
            if (!refused) {
                boolean handled = sendAndAwait(name, database);
                Hunt.log(entry + " deployed, handled " + handled + ": "
                        + Hunt.status(name).replace('\n', ' '));
                if (!handled && !Hunt.says(name)) {
                    silent.add(entry.getKey());
                }
                Servers.payara().undeploy(name);
            }
        }
        assertThat(silent).isEmpty();
    }

    private static boolean sendAndAwait(String id, Database database) {
        topics.send("hunt-plain", id);
        try {
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> database.effects("plain").contains(id));
            return true;
        } catch (org.awaitility.core.ConditionTimeoutException e) {
            return false;
        }
    }

    /** 29. Kafka refuses the session timeout: the receiver says so and names the setting. */
    @Test
    void f29SessionTimeoutTooShort() {
        createTopic("hunt-plain", 1);
        Database database = new Database("hunt_session");
        TestApp app = new TestApp("session", database.name())
                .with(HuntHandlers.class, HuntHandlers.Plain.class)
                .with("twinbox.inbox.kafka.session.timeout.ms", "1000");
        deployed.add("session");
        Servers.payara().deploy("session", app.build());
        await().atMost(SOON).until(() -> Hunt.status("session").contains("trouble receiver of group"));
        Hunt.log("session: "
                + Hunt.status("session")
                        .lines()
                        .filter(line -> line.startsWith("trouble"))
                        .toList());
        assertThat(Hunt.status("session")).contains("session.timeout.ms");
    }

    /** 30. Two applications of one group and one id of a static member: events go on, or the trouble names the setting. */
    @Test
    void f30StaticMemberTwice() throws Exception {
        createTopic("hunt-plain", 2);
        Database database = new Database("hunt_static");
        for (String name : List.of("static-a", "static-b")) {
            TestApp app = new TestApp(name, database.name())
                    .with(HuntHandlers.class, HuntHandlers.Plain.class)
                    .with("twinbox.inbox.group", "hunt-static")
                    .with("twinbox.inbox.kafka.group.instance.id", "node-1");
            deployed.add(name);
            Servers.payara().deploy(name, app.build());
        }
        for (int i = 0; i < 20; i++) {
            topics.add("hunt-plain", i % 2, "k" + i, "st" + i, "", 0);
            topics.flush();
            Thread.sleep(500);
        }
        String a = Hunt.status("static-a")
                .lines()
                .filter(line -> line.startsWith("trouble"))
                .toList()
                .toString();
        String b = Hunt.status("static-b")
                .lines()
                .filter(line -> line.startsWith("trouble"))
                .toList()
                .toString();
        Hunt.log("static: " + a + " " + b + " effects "
                + database.effects("plain").size());
        await().atMost(SOON).until(() -> database.effects("plain").size() >= 20);
        assertThat(database.effects("plain")).doesNotHaveDuplicates();
        assertThat(a + b).contains("group.instance.id");
    }
}
