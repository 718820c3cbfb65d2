package dev.twinbox.proof.matrix;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.Ledger;
import dev.twinbox.fixtures.PayaraMicro;
import dev.twinbox.fixtures.TcpProxy;
import dev.twinbox.proof.landscape.Command;
import dev.twinbox.sample.proof.ReceiverStep.SecondKill;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/**
 * A receiver in Payara Micro that is killed at a step of its work on one event for each delivery contract, and begun again until they are done.
 * The process that has recovered from one kill is the victim of the next. Its topics have fixed names, so there is one in a JVM; it ends with it.
 */
final class ReceiverCrash {
    /** The class of the crash application that the receiver calls. */
    static final String HANDLERS = "dev.twinbox.proof.crash.Handlers";

    private static final Duration LIMIT = Duration.ofMinutes(4);
    private static final Duration POLL = Duration.ofMillis(50);

    /** More than one batch: what comes first after a crash is handled otherwise than all that follows. */
    private static final int SETTLING_EVENTS = 3;

    private static final String EFFECTS = "select count(*) from effect where event_id = ?";
    private static final String CLAIMS = "select count(*) from inbox_event where event_id = ?";
    private static final String BEGUN = "select count(*) from inbox_parked where state = 'begun' and event_id = ?";
    private static final String PARKED = "select count(*) from inbox_parked where state <> 'begun' and event_id = ?";
    private static final String ALL_PARKED = "select count(*) from inbox_parked";

    /** Who comes first to a parked event after the crash. */
    enum Race {
        /** The step leaves nothing open. */
        NONE,
        /** Kafka hands it over again while it is parked. */
        KAFKA_FIRST,
        /** It is handled, and parked no more, before Kafka hands it over again. */
        RETRY_FIRST
    }

    /**
     * @param database what of the event was in it when the process died
     * @param kafka whether its offset was committed then
     * @param receiver how often its effect had happened then
     * @param lost whether it has no effect in the end
     * @param appliedTwice whether it has more than one
     */
    record Seen(String database, String kafka, String receiver, boolean lost, boolean appliedTwice) {}

    /** What the process is killed over. */
    private record Event(Handling handling, String id, long offset) {
        /** As it prints itself in the receiver. */
        String coordinates() {
            return handling.partition() + "@" + offset + " ";
        }
    }

    private final ProofServers servers;
    private final String database;
    private final TcpProxy proxy;
    private final Map<KillPoint, KillSwitch> kills = new LinkedHashMap<>();
    private final Producer<byte[], byte[]> producer;
    private final List<String> sentForOneEffect = new ArrayList<>();
    private final PayaraMicro server;

    private static @Nullable ReceiverCrash ofThisJvm; // guarded by the class

    /** The one of this JVM. Its server runs from the first kill on, until {@link #rest}. */
    static synchronized ReceiverCrash ofThisJvm() throws SQLException {
        ReceiverCrash present = ofThisJvm;
        if (present == null) {
            present = new ReceiverCrash(new ProofServers());
            ofThisJvm = present;
        }
        return present;
    }

    private ReceiverCrash(ProofServers servers) throws SQLException {
        this.servers = servers;
        this.database = servers.newName("receiver");
        this.proxy = servers.kafka().proxy();
        createDatabase();
        Stream.of(Handling.values())
                .forEach(handling ->
                        servers.kafka().createTopic(handling.partition().topic(), 1));
        this.producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", servers.kafka().bootstrapServers()),
                new ByteArraySerializer(),
                new ByteArraySerializer());
        Path folder = servers.folder(database);
        Stream.of(ReceiverStep.values())
                .flatMap(step -> Stream.concat(
                        Stream.of(step.point()),
                        step.secondDeaths().stream()
                                .flatMap(death -> death.kills().stream())
                                .map(SecondKill::point)))
                .forEach(point -> kills.computeIfAbsent(
                        point, same -> KillSwitch.at(same, folder.resolve(Integer.toString(kills.size())))));
        this.server = PayaraMicro.builder(servers.installation().payara())
                .war(servers.crashWar())
                .jvmOptions("-XX:TieredStopAtLevel=1")
                .jvmOptions(KillSwitch.jvmOptions(servers.byteman(), folder, kills.values()))
                .systemProperty(
                        "twinbox.inbox.kafka.bootstrap.servers", servers.kafka().bootstrapServers(proxy))
                .systemProperty("crash.database.url", servers.postgres().jdbcUrl(database))
                .systemProperty("crash.database.user", servers.postgres().user())
                .env("CRASH_DATABASE_PASSWORD", servers.postgres().password())
                .build();
    }

    private void createDatabase() throws SQLException {
        servers.postgres().createDatabase(database);
        Command.run(
                servers.installation().inboxCli(),
                Map.of("TWINBOX_INBOX_DATABASE_PASSWORD", servers.postgres().password()),
                "migrate",
                "--url",
                servers.postgres().jdbcUrl(database),
                "--user",
                servers.postgres().user());
        execute("create table effect (id bigserial primary key, topic text not null, event_id text not null)");
        execute("create table refused (topic text primary key)");
    }

    /** One kill. */
    Map<Handling, Seen> kill(ReceiverStep step, Race race) throws SQLException {
        return undoneIfItFails(() -> {
            List<Event> events = die(step);
            Map<Handling, Seen> atDeath = look(events);
            return end(atDeath, events, race);
        });
    }

    /** Another kill while the receiver recovers from the first. */
    Map<Handling, Seen> killTwice(ReceiverStep step, List<SecondKill> again, Race race) throws SQLException {
        return undoneIfItFails(() -> {
            List<Event> events = die(step);
            if (step == ReceiverStep.PARKED) {
                keepKafkaAway(); // or it is anybody's guess whether the offset is committed by then
            }
            acceptAll();
            again.forEach(kill -> kills.get(kill.point()).arm(subjects(kill, events)));
            server.start();
            again.forEach(kill -> kills.get(kill.point()).awaitReached(server));
            kills.get(again.get(0).point()).fire(server);
            again.forEach(kill -> kills.get(kill.point()).disarm());
            Map<Handling, Seen> atDeath = look(events);
            if (race == Race.KAFKA_FIRST) {
                refuse();
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
            acceptAll();
            throw e;
        }
    }

    private void start() {
        server.start().awaitHttp("/crash/api/ready", LIMIT);
    }

    private List<Event> die(ReceiverStep step) throws SQLException {
        List<Event> events = step.handlings().stream().map(this::nextEvent).toList();
        KillSwitch kill = kills.get(step.point());
        if (step.isAboutParking()) {
            refuse();
        }
        if (step.isAboutRedrive()) {
            events.forEach(this::send);
            events.forEach(event -> awaitCount(1, PARKED, event.id()));
            events.forEach(event -> awaitOffset(event.handling()));
            kill.arm(coordinates(events));
            acceptAll();
        } else {
            kill.arm(coordinates(events));
            events.forEach(this::send);
        }
        kill.awaitReached(server);
        kill.fire(server);
        return events;
    }

    private static List<String> coordinates(List<Event> events) {
        return events.stream().map(Event::coordinates).toList();
    }

    private static List<String> subjects(SecondKill kill, List<Event> events) {
        return events.stream()
                .filter(event -> kill.handlings().contains(event.handling()))
                .map(event -> kill.point().equals(ReceiverStep.ASSIGNED)
                        ? event.handling().partition() + "@"
                        : event.coordinates())
                .toList();
    }

    private Map<Handling, Seen> look(List<Event> events) throws SQLException {
        Map<Handling, Seen> seen = new LinkedHashMap<>();
        for (Event event : events) {
            long effects = count(EFFECTS, event.id());
            seen.put(
                    event.handling(),
                    new Seen(
                            describeRows(event, effects),
                            "offset " + (isOffsetAtEnd(event.handling()) ? "behind it" : "before it"),
                            effects == 0 ? "not applied" : effects == 1 ? "applied" : "applied " + effects + " times",
                            false,
                            false));
        }
        return seen;
    }

    private String describeRows(Event event, long effects) throws SQLException {
        List<String> found = new ArrayList<>();
        if (effects > 0) {
            found.add("effect");
        }
        if (count(CLAIMS, event.id()) > 0) {
            found.add("inbox row");
        }
        if (count(PARKED, event.id()) > 0) {
            found.add("parked row");
        }
        if (count(BEGUN, event.id()) > 0) {
            found.add("row that says begun");
        }
        return found.isEmpty() ? "nothing" : String.join(", ", found);
    }

    private Map<Handling, Seen> end(Map<Handling, Seen> atDeath, List<Event> events, Race race) throws SQLException {
        recover(events, race);
        settle();
        Map<Handling, Seen> seen = new LinkedHashMap<>();
        for (Event event : events) {
            long effects = count(EFFECTS, event.id());
            Seen before = atDeath.get(event.handling());
            seen.put(
                    event.handling(),
                    new Seen(before.database(), before.kafka(), before.receiver(), effects == 0, effects > 1));
        }
        assertLedger();
        return seen;
    }

    private void recover(List<Event> events, Race race) throws SQLException {
        switch (race) {
            case NONE -> {
                acceptAll();
                proxy.heal();
                start();
            }
            case KAFKA_FIRST -> {
                start();
                events.forEach(event -> awaitOffset(event.handling()));
                acceptAll();
            }
            case RETRY_FIRST -> {
                acceptAll();
                keepKafkaAway();
                start();
                events.forEach(event -> awaitCount(1, EFFECTS, event.id()));
                events.forEach(event -> awaitCount(0, PARKED, event.id()));
                proxy.heal();
            }
        }
    }

    private void keepKafkaAway() {
        proxy.cut();
    }

    /** Nothing is left to do when what came behind it is done, in each partition, and nothing is parked. */
    private void settle() {
        awaitCount(0, ALL_PARKED);
        List<Event> last = new ArrayList<>();
        for (Handling handling : Handling.values()) {
            for (int i = 1; i < SETTLING_EVENTS; i++) {
                send(nextEvent(handling));
            }
            Event event = nextEvent(handling);
            send(event);
            last.add(event);
        }
        for (Event event : last) {
            awaitThat("an effect of " + event, () -> count(EFFECTS, event.id()) > 0);
            awaitOffset(event.handling());
        }
        awaitCount(0, ALL_PARKED);
    }

    /** Of the events that are to have their effect once: each has it. */
    private void assertLedger() throws SQLException {
        Ledger ledger = Ledger.create();
        String topic = Handling.ONCE.partition().topic();
        sentForOneEffect.forEach(id -> ledger.committed(topic, "key", id, id.getBytes(UTF_8)));
        try (Connection connection = servers.postgres().connect(database)) {
            ledger.published(servers.kafka().readAll(topic))
                    .effects("once", connection, "select event_id from effect where topic = 'crash-once'")
                    .assertExact();
        }
    }

    private Event nextEvent(Handling handling) {
        return new Event(handling, UUID.randomUUID().toString(), endOffset(handling));
    }

    /** Returns when Kafka has it, at the offset that was foreseen. */
    private void send(Event event) {
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(
                event.handling().partition().topic(),
                "key".getBytes(UTF_8),
                event.id().getBytes(UTF_8));
        Headers headers = record.headers();
        headers.add("ce_specversion", "1.0".getBytes(UTF_8));
        headers.add("ce_id", event.id().getBytes(UTF_8));
        headers.add("ce_type", "crash.happened".getBytes(UTF_8));
        headers.add("ce_source", "/proof".getBytes(UTF_8));
        headers.add("content-type", "text/plain".getBytes(UTF_8));
        if (event.handling() == Handling.ONCE) {
            sentForOneEffect.add(event.id());
        }
        assertThat(answer(producer.send(record)).offset()).isEqualTo(event.offset());
    }

    private void awaitOffset(Handling handling) {
        awaitThat("the committed offset of " + handling.partition(), () -> isOffsetAtEnd(handling));
    }

    private boolean isOffsetAtEnd(Handling handling) {
        OffsetAndMetadata committed = answer(servers.admin()
                        .listConsumerGroupOffsets(handling.group())
                        .partitionsToOffsetAndMetadata())
                .get(handling.partition());
        return committed != null && committed.offset() == endOffset(handling);
    }

    private long endOffset(Handling handling) {
        return answer(servers.admin()
                        .listOffsets(Map.of(handling.partition(), OffsetSpec.latest()))
                        .partitionResult(handling.partition()))
                .offset();
    }

    private static <T> T answer(Future<T> future) {
        try {
            return future.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    private void awaitCount(long wanted, String sql, String... parameters) {
        awaitThat(wanted + " from " + sql + " of " + List.of(parameters), () -> count(sql, parameters) == wanted);
    }

    private void awaitThat(String what, Callable<Boolean> condition) {
        await(what).atMost(LIMIT).pollInterval(POLL).until(() -> !server.isAlive() || condition.call());
        assertThat(server.isAlive()).as(server.log()).isTrue();
    }

    private long count(String sql, String... parameters) throws SQLException {
        try (Connection connection = servers.postgres().connect(database);
                PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < parameters.length; i++) {
                statement.setString(i + 1, parameters[i]);
            }
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getLong(1);
            }
        }
    }

    /** From now on these handlers refuse everything. */
    private void refuse() throws SQLException {
        execute("insert into refused select unnest(array['crash-once', 'crash-at-least-once'])");
    }

    /** From now on no handler refuses anything. */
    private void acceptAll() throws SQLException {
        execute("delete from refused");
    }

    private void execute(String sql) throws SQLException {
        try (Connection connection = servers.postgres().connect(database);
                PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.execute();
        }
    }

    /** Leaves the processors to others; the next kill starts the server again. */
    void rest() {
        server.kill();
    }
}
