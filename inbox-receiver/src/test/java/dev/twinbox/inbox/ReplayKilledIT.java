package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.inbox.app.ReplayedHandlers;
import dev.twinbox.inbox.jdbc.ReplayJob;
import dev.twinbox.inbox.jdbc.ReplayTable;
import dev.twinbox.inbox.server.PayaraHost;
import dev.twinbox.jdbc.SqlIdentifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The instance that carries out a job is killed, and the one after it too, while live events come. On real servers. */
@Tag("proof")
class ReplayKilledIT {

    private static final String APP = "replayed";
    private static final int KEYS = 8;
    private static final int ROUNDS = 40;
    private static final int EVENTS = KEYS * ROUNDS;
    private static final Duration LIMIT = Duration.ofSeconds(150);

    private static final ReplayTable JOBS = ReplayTable.of(new SqlIdentifier(null, "inbox_event"));

    private final Database database = new Database(APP);
    private final List<List<String>> idsOfKeys = new ArrayList<>();

    @Test
    void eachEventHasOneMoreEffectInOrderAndTheGroupStaysWhereItIs() throws Exception {
        Servers.kafka().createTopic(APP, 2);
        for (int key = 0; key < KEYS; key++) {
            idsOfKeys.add(new ArrayList<>());
        }
        Map<String, PayaraHost> hosts = new HashMap<>();
        try (Topics topics = new Topics()) {
            for (int round = 0; round < ROUNDS; round++) {
                sendOneOfEachKey(topics);
            }
            for (String instance : List.of("one", "two", "three")) {
                hosts.put(instance, start(instance));
            }
            awaitLive(topics, EVENTS);
            assertThat(database.effects("replayed")).hasSize(EVENTS);
            List<Long> ends = List.of(end(topics, 0), end(topics, 1));
            database.execute("truncate call");

            long job = request(topics, ends);
            String first = killOwnerAfter(EVENTS / 8, hosts);
            sendOneOfEachKey(topics);
            String second = killOwnerAfter(EVENTS / 2, hosts);

            await().atMost(LIMIT).until(() -> job(job).endedAt() != null);
            ReplayJob done = job(job);
            assertThat(done.state()).isEqualTo(ReplayJob.State.FINISHED);
            assertThat(done.left()).isZero();
            assertThat(done.counts().parked()).isZero();
            assertThat(second).isNotEqualTo(first);
            awaitLive(topics, EVENTS + KEYS);
            assertThat(database.effects("untouched")).hasSize(EVENTS + KEYS).doesNotHaveDuplicates();
            assertOneMoreEffectInOrder();
            assertThat(database.count("inbox_parked")).isZero();
        } finally {
            hosts.values().forEach(PayaraHost::close);
        }
    }

    private PayaraHost start(String instance) {
        PayaraHost host = Servers.newPayara();
        host.deploy(
                APP,
                new TestApp(APP, database.name())
                        .with(ReplayedHandlers.class)
                        .with("twinbox.inbox.batch.size", "20")
                        .with("test.instance", instance)
                        .build());
        await().atMost(LIMIT).until(() -> host.status("/" + APP + "/status") == 200);
        return host;
    }

    /** Each call takes some milliseconds, so that a job lasts long enough to be killed. */
    private void sendOneOfEachKey(Topics topics) {
        for (int key = 0; key < KEYS; key++) {
            String id = Topics.id();
            idsOfKeys.get(key).add(id);
            topics.add(APP, key % 2, "key-" + key, id, "sql:select pg_sleep(0.01)", 1_000);
        }
        topics.flush();
    }

    private void awaitLive(Topics topics, int events) {
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(database.effects("untouched")).hasSize(events));
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(topics.lag(APP, APP)).isZero());
    }

    private static long end(Topics topics, int partition) throws Exception {
        var key = new org.apache.kafka.common.TopicPartition(APP, partition);
        return topics.admin()
                .listOffsets(Map.of(key, org.apache.kafka.clients.admin.OffsetSpec.latest()))
                .partitionResult(key)
                .get()
                .offset();
    }

    private long request(Topics topics, List<Long> ends) throws Exception {
        Uuid id = topics.admin()
                .describeTopics(List.of(APP))
                .allTopicNames()
                .get()
                .get(APP)
                .topicId();
        try (Connection connection = database.connect()) {
            return JOBS.request(
                            connection,
                            new ReplayTable.Request(
                                    APP,
                                    "replayed",
                                    APP,
                                    new UUID(id.getMostSignificantBits(), id.getLeastSignificantBits()),
                                    null,
                                    true,
                                    "oldest",
                                    "now",
                                    List.of(
                                            new ReplayJob.Partition(0, 0, ends.get(0), 0),
                                            new ReplayJob.Partition(1, 0, ends.get(1), 0))))
                    .orElseThrow();
        }
    }

    private ReplayJob job(long number) throws SQLException {
        try (Connection connection = database.connect()) {
            return JOBS.latest(connection, 1).stream()
                    .filter(each -> each.number() == number)
                    .findFirst()
                    .orElseThrow();
        }
    }

    /** The owner is who has called the handler last. It is killed during a call. Returns its name. */
    private String killOwnerAfter(int calls, Map<String, PayaraHost> hosts) {
        await().atMost(LIMIT).until(() -> database.count("call where handler = 'replayed'") >= calls);
        String owner = database.texts("select instance from call where handler = 'replayed' order by id desc limit 1")
                .get(0);
        PayaraHost host = hosts.remove(owner);
        assertThat(host).as(owner).isNotNull();
        host.close();
        assertThat(database.count("inbox_replay where state = 'running'")).isEqualTo(1);
        return owner;
    }

    /** First the live effect of each event, then, for those of the job, one more. */
    private void assertOneMoreEffectInOrder() {
        List<String> effects = database.effects("replayed");
        assertThat(effects).hasSize(2 * EVENTS + KEYS);
        Map<String, Long> times = effects.stream().collect(Collectors.groupingBy(id -> id, Collectors.counting()));
        List<String> again = effects.subList(EVENTS, effects.size());
        for (List<String> ids : idsOfKeys) {
            List<String> replayed = ids.subList(0, ROUNDS);
            assertThat(replayed).allMatch(id -> times.get(id) == 2);
            assertThat(times.get(ids.get(ROUNDS))).isEqualTo(1);
            assertThat(again).containsSubsequence(replayed);
        }
    }
}
