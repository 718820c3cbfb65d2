package dev.twinbox.proof.matrix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.CodeLocation;
import dev.twinbox.fixtures.PayaraMicro;
import dev.twinbox.fixtures.TcpProxy;
import dev.twinbox.proof.landscape.BuiltFile;
import dev.twinbox.proof.matrix.ReceiverStep.SecondKill;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * A receiver in Payara Micro that is killed at a step of its work, on one event for each delivery contract. Then it is
 * started again until the events are done. The recovered process is the victim of the next kill. Its topics have fixed
 * names, so there is one per JVM; it ends with the JVM.
 */
final class ReceiverCrash {
    /** The class of the crash application that the receiver calls. */
    static final String HANDLERS = "dev.twinbox.proof.crash.Handlers";

    private static final Duration LIMIT = Duration.ofMinutes(4);
    private static final Duration POLL = Duration.ofMillis(50);

    /** More than one batch: after a crash the first records are handled differently. */
    private static final int SETTLING_EVENTS = 3;

    /** Who handles a parked event first after the crash. */
    enum Race {
        /** The step leaves nothing open. */
        NONE,
        /** Kafka delivers it again while it is parked. */
        KAFKA_FIRST,
        /** It is retried and no longer parked before Kafka delivers it again. */
        RETRY_FIRST
    }

    /**
     * @param database what it held of the event when the process died
     * @param kafka whether its offset was committed then
     * @param receiver how often its effect had happened then
     * @param lost whether it has no effect in the end
     * @param appliedTwice whether it has more than one
     */
    record Seen(String database, String kafka, String receiver, boolean lost, boolean appliedTwice) {}

    private final CrashDatabase database;
    private final CrashTopics topics;
    private final TcpProxy proxy;
    private final Map<KillPoint, KillSwitch> kills = new LinkedHashMap<>();
    private final PayaraMicro server;

    private static @Nullable ReceiverCrash ofThisJvm; // guarded by the class

    /** The receiver of this JVM. Its server runs from the first kill on, until {@link #rest}. */
    static synchronized ReceiverCrash ofThisJvm() throws SQLException {
        ReceiverCrash present = ofThisJvm;
        if (present == null) {
            present = new ReceiverCrash(new ProofServers());
            ofThisJvm = present;
        }
        return present;
    }

    private ReceiverCrash(ProofServers servers) throws SQLException {
        String name = servers.newName("receiver");
        this.database = new CrashDatabase(servers, name);
        this.topics = new CrashTopics(servers);
        this.proxy = servers.kafka().proxy();
        Path folder = servers.folder(name);
        Stream.of(ReceiverStep.values())
                .flatMap(step -> Stream.concat(
                        Stream.of(step.point()),
                        step.secondDeaths().stream()
                                .flatMap(death -> death.kills().stream())
                                .map(SecondKill::point)))
                .forEach(point -> kills.computeIfAbsent(
                        point, same -> KillSwitch.at(same, folder.resolve(Integer.toString(kills.size())))));
        this.server = servers.servers()
                .receiver(servers.servers().directly().toKafkaThrough(List.of(proxy)), BuiltFile.CRASH, "crash", name)
                // Taken from the server instead of the WAR, these classes load faster: it starts some forty times.
                .library(CodeLocation.of(KafkaConsumer.class))
                .library(CodeLocation.of(Logger.class))
                .jvmOptions("-XX:TieredStopAtLevel=1")
                .jvmOptions(KillSwitch.jvmOptions(servers.byteman(), folder, kills.values()))
                .build();
    }

    /** Kills the receiver once. */
    Map<Handling, Seen> kill(ReceiverStep step, Race race) throws SQLException {
        return undoneIfItFails(() -> {
            List<CrashEvent> events = die(step);
            Map<Handling, Seen> atDeath = look(events);
            return end(atDeath, events, race);
        });
    }

    /** Kills the receiver again while it recovers from the first kill. */
    Map<Handling, Seen> killTwice(ReceiverStep step, List<SecondKill> again, Race race) throws SQLException {
        return undoneIfItFails(() -> {
            List<CrashEvent> events = die(step);
            if (step == ReceiverStep.PARKED) {
                keepKafkaAway(); // or the offset may or may not be committed by then
            }
            database.acceptAll();
            again.forEach(kill -> kills.get(kill.point()).arm(subjects(kill, events)));
            server.start();
            again.forEach(kill -> kills.get(kill.point()).awaitReached(server));
            kills.get(again.get(0).point()).fire(server);
            again.forEach(kill -> kills.get(kill.point()).disarm());
            Map<Handling, Seen> atDeath = look(events);
            if (race == Race.KAFKA_FIRST) {
                database.refuse();
                proxy.heal();
            }
            return end(atDeath, events, race);
        });
    }

    private interface Crash {
        Map<Handling, Seen> run() throws SQLException;
    }

    private Map<Handling, Seen> undoneIfItFails(Crash crash) throws SQLException {
        try {
            if (!server.isAlive()) {
                start();
                settle();
            }
            return crash.run();
        } catch (RuntimeException | SQLException | Error e) {
            server.kill();
            kills.values().forEach(KillSwitch::disarm);
            proxy.heal();
            database.acceptAll();
            throw e;
        }
    }

    private void start() {
        server.start().awaitHttp("/crash/api/ready", LIMIT);
    }

    private List<CrashEvent> die(ReceiverStep step) throws SQLException {
        List<CrashEvent> events = step.handlings().stream().map(topics::next).toList();
        KillSwitch kill = kills.get(step.point());
        if (step.isAboutParking()) {
            database.refuse();
        }
        if (step.isAboutRetry()) {
            events.forEach(topics::send);
            events.forEach(event -> awaitCount(1, CrashDatabase.PARKED, event.id()));
            events.forEach(event -> awaitOffset(event.handling()));
            kill.arm(coordinates(events));
            database.acceptAll();
        } else {
            kill.arm(coordinates(events));
            events.forEach(topics::send);
        }
        kill.awaitReached(server);
        kill.fire(server);
        return events;
    }

    private static List<String> coordinates(List<CrashEvent> events) {
        return events.stream().map(CrashEvent::coordinates).toList();
    }

    private static List<String> subjects(SecondKill kill, List<CrashEvent> events) {
        return events.stream()
                .filter(event -> kill.handlings().contains(event.handling()))
                .map(event -> kill.point().equals(ReceiverStep.ASSIGNED)
                        ? event.handling().partition() + "@"
                        : event.coordinates())
                .toList();
    }

    private Map<Handling, Seen> look(List<CrashEvent> events) throws SQLException {
        Map<Handling, Seen> seen = new LinkedHashMap<>();
        for (CrashEvent event : events) {
            long effects = database.count(CrashDatabase.EFFECTS, event.id());
            seen.put(
                    event.handling(),
                    new Seen(
                            database.describe(event.id(), effects),
                            "offset " + (topics.isOffsetAtEnd(event.handling()) ? "after it" : "before it"),
                            effects == 0 ? "not applied" : effects == 1 ? "applied" : "applied " + effects + " times",
                            false,
                            false));
        }
        return seen;
    }

    private Map<Handling, Seen> end(Map<Handling, Seen> atDeath, List<CrashEvent> events, Race race)
            throws SQLException {
        recover(events, race);
        settle();
        Map<Handling, Seen> seen = new LinkedHashMap<>();
        for (CrashEvent event : events) {
            long effects = database.count(CrashDatabase.EFFECTS, event.id());
            Seen before = atDeath.get(event.handling());
            seen.put(
                    event.handling(),
                    new Seen(before.database(), before.kafka(), before.receiver(), effects == 0, effects > 1));
        }
        topics.assertLedger(database);
        return seen;
    }

    private void recover(List<CrashEvent> events, Race race) throws SQLException {
        switch (race) {
            case NONE -> {
                database.acceptAll();
                proxy.heal();
                start();
            }
            case KAFKA_FIRST -> {
                start();
                events.forEach(event -> awaitOffset(event.handling()));
                database.acceptAll();
            }
            case RETRY_FIRST -> {
                database.acceptAll();
                keepKafkaAway();
                start();
                events.forEach(event -> awaitCount(1, CrashDatabase.EFFECTS, event.id()));
                events.forEach(event -> awaitCount(0, CrashDatabase.PARKED, event.id()));
                proxy.heal();
            }
        }
    }

    private void keepKafkaAway() {
        proxy.cut();
    }

    /** Waits until later events are handled in each partition, and nothing is parked. */
    private void settle() {
        awaitCount(0, CrashDatabase.ALL_PARKED);
        List<CrashEvent> last = new ArrayList<>();
        for (Handling handling : Handling.values()) {
            for (int i = 1; i < SETTLING_EVENTS; i++) {
                topics.send(topics.next(handling));
            }
            CrashEvent event = topics.next(handling);
            topics.send(event);
            last.add(event);
        }
        for (CrashEvent event : last) {
            awaitThat("an effect of " + event, () -> database.count(CrashDatabase.EFFECTS, event.id()) > 0);
            awaitOffset(event.handling());
        }
        awaitCount(0, CrashDatabase.ALL_PARKED);
    }

    private void awaitOffset(Handling handling) {
        awaitThat("the committed offset of " + handling.partition(), () -> topics.isOffsetAtEnd(handling));
    }

    private void awaitCount(long wanted, String sql, String... parameters) {
        awaitThat(
                wanted + " from " + sql + " of " + List.of(parameters),
                () -> database.count(sql, parameters) == wanted);
    }

    private void awaitThat(String what, Callable<Boolean> condition) {
        await(what).atMost(LIMIT).pollInterval(POLL).until(() -> !server.isAlive() || condition.call());
        assertThat(server.isAlive()).as(server.log()).isTrue();
    }

    /** Stops the server, to free the processors. The next kill starts it again. */
    void rest() {
        server.kill();
    }
}
