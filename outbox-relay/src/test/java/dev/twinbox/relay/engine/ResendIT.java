package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.twinbox.relay.OutboxDatabaseFixture;
import dev.twinbox.relay.config.DeliveryMode;
import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.config.RelayException;
import dev.twinbox.relay.jdbc.PausedTopicTable;
import dev.twinbox.relay.jdbc.SentEvents;
import dev.twinbox.relay.kafka.PositionTopic;
import dev.twinbox.relay.resend.ResendJob;
import dev.twinbox.relay.resend.ResendPreview;
import dev.twinbox.relay.resend.ResendTable;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;

/** Events that Kafka has had are sent again by a job. */
class ResendIT {
    private static final Duration SOON = Duration.ofSeconds(90);

    static final SentEvents.Range ALL = new SentEvents.Range(null, null, null, null, null, null);

    @Test
    void aRangeIsSentAgainInOrderOfItsKeysInSmallPages() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic()) {
            rig.page = new RelayConfig.Page(7, 100_000, 4); // A page has two events of a key.
            EngineRig.Running relay = rig.start();
            insert(rig, 0, 20);
            awaitSaved(rig, 20);
            SentEvents.Range range = new SentEvents.Range(5L, 17L, null, null, rig.topic, null);
            ResendPreview preview = preview(rig, range);
            assertThat(preview.topics().get(rig.topic))
                    .isEqualTo(new SentEvents.Found(
                            rig.topic, 12, preview.topics().get(rig.topic).bytes(), 5, 16));
            assertThat(preview.isCut()).isFalse();
            assertThat(rig.recordCount()).as("the preview sends nothing").isEqualTo(20);

            long job = request(rig, range, Set.of());
            ResendJob done = awaitOver(rig, job);
            assertThat(done.state()).as(done.toString()).isEqualTo(ResendJob.State.FINISHED);
            assertThat(done.sent()).hasToString("Sent[sent=12, parked=0, refused=0]");
            assertThat(relay.progress().observed().resend().sent()).isEqualTo(12);
            for (int key = 0; key < 4; key++) {
                int each = key;
                List<String> expected = new ArrayList<>();
                IntStream.range(0, 20).filter(i -> i % 4 == each).forEach(i -> expected.add("event " + i));
                IntStream.range(4, 16).filter(i -> i % 4 == each).forEach(i -> expected.add("event " + i));
                assertThat(rig.payloadsOf("key" + key)).isEqualTo(expected);
            }
            assertThat(rig.records().stream().map(ResendIT::id).distinct())
                    .as("the same ids")
                    .hasSize(20);
            insert(rig, 20, 21);
            rig.awaitRecords(33);
            assertThat(relay.stop()).isEqualTo(ExitCode.OK);
        }
    }

    @Test
    void aRangeOfTimesAndAKeyAreTakenFromTheEvents() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic()) {
            EngineRig.Running relay = rig.start();
            insert(rig, 0, 12);
            awaitSaved(rig, 12);
            rig.execute(
                    "update outbox_event set occurred_at = '2026-01-01T00:00:00Z'::timestamptz + seq * interval '1 min'");
            SentEvents.Range range = new SentEvents.Range(
                    null,
                    null,
                    Instant.parse("2026-01-01T00:03:00Z"),
                    Instant.parse("2026-01-01T00:10:00Z"),
                    null,
                    "key1");
            assertThat(preview(rig, range).events()).isEqualTo(1);
            assertThat(awaitOver(rig, request(rig, range, Set.of())).sent().sent())
                    .isEqualTo(1);
            assertThat(rig.payloadsOf("key1")).containsExactly("event 1", "event 5", "event 9", "event 5");
            assertThat(relay.stop()).isEqualTo(ExitCode.OK);
        }
    }

    /** Whatever is sent last is what a compacted topic keeps. */
    @Test
    void newEventsOfACompactedTopicComeAfterTheJob() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic(Map.of("cleanup.policy", "compact"))) {
            EngineRig.Running relay = rig.start();
            insert(rig, 0, 8);
            awaitSaved(rig, 8);
            assertThat(preview(rig, ALL).compacted()).containsExactly(rig.topic);
            assertThatThrownBy(() -> preview(rig, new SentEvents.Range(1L, 5L, null, null, null, null)))
                    .isInstanceOf(RelayException.class)
                    .hasMessageContaining("is compacted")
                    .hasMessageContaining("Leave out \"to\"");
            rig.execute("create function not_yet() returns trigger language plpgsql as"
                    + " $$ begin raise exception 'not yet'; end $$;"
                    + " create trigger not_yet before update on outbox_resend for each row execute function not_yet()");
            long job = request(rig, ALL, Set.of(rig.topic));
            await("the topic is set aside")
                    .atMost(SOON)
                    .until(() -> Objects.requireNonNull(
                                    relay.progress().observed().pausedTopics())
                            .containsKey(rig.topic));
            insert(rig, 8, 12);
            await("set aside")
                    .atMost(SOON)
                    .until(() -> rig.number("select count(*) from outbox_parked where partition = -2") == 4);
            assertThat(rig.recordCount()).isEqualTo(8);
            assertThat(rig.number("select count(*) from outbox_resend where state = 'requested'"))
                    .isOne();
            rig.execute("drop trigger not_yet on outbox_resend");
            assertThat(awaitOver(rig, job).state()).isEqualTo(ResendJob.State.FINISHED);
            rig.awaitRecords(20);
            rig.awaitNothingParked();
            assertThat(rig.payloadsOf("key2")).containsExactly("event 2", "event 6", "event 2", "event 6", "event 10");
            assertThat(relay.stop()).isEqualTo(ExitCode.OK);
        }
    }

    @Test
    void aTopicThatHasBecomeCompactedEndsTheJobBeforeAnythingIsSentToIt() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic()) {
            EngineRig.Running relay = rig.start();
            insert(rig, 0, 4);
            awaitSaved(rig, 4);
            EngineRig.setTopic(rig.topic, "cleanup.policy", "compact");
            ResendJob job = awaitOver(rig, request(rig, ALL, Set.of()));
            assertThat(job.state()).isEqualTo(ResendJob.State.FAILED);
            assertThat(job.error()).contains("is compacted now: request the job again");
            assertThat(rig.recordCount()).isEqualTo(4);
            assertThat(relay.stop()).isEqualTo(ExitCode.OK);
        }
    }

    @Test
    void whatIsParkedOrRefusedIsLeftOut() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic()) {
            EngineRig.Running relay = rig.start();
            byte[] large = new byte[20_000];
            new Random(1).nextBytes(large);
            try (Connection connection = rig.connect()) {
                rig.insert(connection, "a", "a1");
                OutboxDatabaseFixture.insert(connection, rig.topic, "a", large);
                rig.insert(connection, "a", "a3");
                rig.insert(connection, "b", "b1");
                rig.insert(connection, "b", "b2");
            }
            awaitSaved(rig, 5);
            rig.execute(
                    "insert into outbox_parked (relay, state, error, seq, id, topic, key)"
                            + " select 'relay', 'refused', 'not sent yet', seq, id, topic, key from outbox_event where seq = 5");
            EngineRig.setTopic(rig.topic, "max.message.bytes", "5000");
            ResendJob job = awaitOver(rig, request(rig, ALL, Set.of()));
            assertThat(job.state()).isEqualTo(ResendJob.State.FINISHED);
            assertThat(job.sent().parked()).isEqualTo(1);
            assertThat(job.sent().refused()).isEqualTo(1);
            assertThat(job.sent().sent()).isEqualTo(3);
            assertThat(job.error()).contains("max.message.bytes");
            List<String> repeated = rig.payloadsOf("b");
            assertThat(repeated).startsWith("b1", "b2");
            assertThat(repeated.subList(2, repeated.size()))
                    .as("a page may come twice")
                    .containsOnly("b1");
            assertThat(rig.payloadsOf("a").get(0)).isEqualTo("a1");
            assertThat(rig.payloadsOf("a"))
                    .endsWith("a1", "a3")
                    .filteredOn("a3"::equals)
                    .hasSizeGreaterThan(1);
            assertThat(relay.stop()).isEqualTo(ExitCode.OK);
        }
    }

    @Test
    void whatWasEmptiedIsRefusedWithWhatIsLeft() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic()) {
            EngineRig.Running relay = rig.start();
            insert(rig, 0, 8);
            awaitSaved(rig, 8);
            rig.execute("update outbox_event set occurred_at = now() - interval '90 min'");
            rig.execute("delete from outbox_event where seq < 4");
            assertThatThrownBy(() -> preview(rig, new SentEvents.Range(3L, null, null, null, null, null)))
                    .isInstanceOf(RelayException.class)
                    .hasMessageContaining("1.5 hours are there. The oldest event has number 4");
            assertThatThrownBy(() -> preview(
                            rig,
                            new SentEvents.Range(null, null, Instant.parse("2020-01-01T00:00:00Z"), null, null, null)))
                    .isInstanceOf(RelayException.class)
                    .hasMessageContaining("begin there or later, or with \"oldest\"");
            ResendJob job =
                    awaitOver(rig, request(rig, new SentEvents.Range(3L, null, null, null, null, null), Set.of()));
            assertThat(job.state()).isEqualTo(ResendJob.State.FAILED);
            assertThat(job.error()).contains("may have been emptied");
            assertThat(preview(rig, ALL).events()).isEqualTo(5);
            assertThat(rig.recordCount()).isEqualTo(8);
            assertThat(relay.stop()).isEqualTo(ExitCode.OK);
        }
    }

    @Test
    void exactlyOnceIsRefusedByThePreviewAndByTheOwner() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic()) {
            rig.delivery = DeliveryMode.EXACTLY_ONCE;
            PositionTopic.create(rig.config());
            EngineRig.Running relay = rig.start();
            insert(rig, 0, 2);
            rig.awaitRecords(2);
            assertThatThrownBy(() -> preview(rig, ALL))
                    .isInstanceOf(RelayException.class)
                    .hasMessageContaining("publishes exactly once");
            assertThat(awaitOver(rig, request(rig, ALL, Set.of())).state()).isEqualTo(ResendJob.State.FAILED);
            assertThat(relay.stop()).isEqualTo(ExitCode.OK);
        }
    }

    @Test
    void anOperatorStopsAJobByCancelingAndHoldsItByAPause() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic()) {
            EngineRig.Running relay = rig.start();
            insert(rig, 0, 4);
            awaitSaved(rig, 4);
            try (Connection connection = rig.connect()) {
                PausedTopicTable paused = new PausedTopicTable(connection, OutboxDatabaseFixture.SCHEMA, "relay");
                ResendTable jobs = jobs(connection);
                paused.pause(rig.topic);
                long first = request(rig, ALL, Set.of());
                assertThat(jobs.request(ALL, Set.of())).as("a second one").isNull();
                await("it has begun")
                        .atMost(SOON)
                        .until(() -> Objects.requireNonNull(jobs.active()).state() == ResendJob.State.RUNNING);
                assertThat(jobs.cancel(first)).isTrue();
                assertThat(jobs.cancel(first)).isFalse();

                long second = request(rig, ALL, Set.of());
                await("it has begun")
                        .atMost(SOON)
                        .until(() -> Objects.requireNonNull(jobs.active()).state() == ResendJob.State.RUNNING);
                assertThat(rig.recordCount()).as("the topic is paused").isEqualTo(4);
                paused.resume(rig.topic);
                assertThat(awaitOver(rig, second).state()).isEqualTo(ResendJob.State.FINISHED);
                assertThat(rig.recordCount()).isEqualTo(8);
            }
            assertThat(relay.stop()).isEqualTo(ExitCode.OK);
        }
    }

    /** After an owner that knows no jobs, a job of a compacted topic begins anew: new events may have been sent since. */
    @Test
    void aJobWhoseTopicsWereNotSetAsideInBetweenBeginsAnew() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic(Map.of("cleanup.policy", "compact"))) {
            EngineRig.Running first = rig.start();
            insert(rig, 0, 4);
            awaitSaved(rig, 4);
            assertThat(first.stop()).isEqualTo(ExitCode.OK);
            long job = request(rig, ALL, Set.of(rig.topic));
            rig.execute("update outbox_resend set state = 'running', after_seq = 3, epoch = 1, sent_from ="
                    + " (select window_from from outbox_position order by number desc limit 1)");
            rig.execute("update outbox_lease set epoch = 7");
            EngineRig.Running second = rig.start();
            assertThat(awaitOver(rig, job).sent().sent()).as("all of it").isEqualTo(4);
            assertThat(second.stop()).isEqualTo(ExitCode.OK);
        }
    }

    static ResendTable jobs(Connection connection) {
        return new ResendTable(connection, OutboxDatabaseFixture.SCHEMA, "relay");
    }

    static long request(EngineRig rig, SentEvents.Range range, Set<String> held) throws SQLException {
        try (Connection connection = rig.connect()) {
            return Objects.requireNonNull(jobs(connection).request(range, held));
        }
    }

    static ResendPreview preview(EngineRig rig, SentEvents.Range range) throws SQLException {
        try (Connection connection = rig.connect()) {
            return ResendPreview.of(rig.config(), connection, range);
        }
    }

    static ResendJob awaitOver(EngineRig rig, long number) throws SQLException {
        try (Connection connection = rig.connect()) {
            ResendTable jobs = jobs(connection);
            await("job " + number)
                    .atMost(SOON)
                    .until(() -> jobs.latest(1).get(0).number() == number
                            && !jobs.latest(1).get(0).isActive());
            return jobs.latest(1).get(0);
        }
    }

    /** Events with numbers from 1 on. */
    static void insert(EngineRig rig, int from, int to) throws SQLException {
        try (Connection connection = rig.connect()) {
            for (int i = from; i < to; i++) {
                rig.insert(connection, "key" + i % 4, "event " + i);
            }
        }
    }

    static void awaitSaved(EngineRig rig, long records) {
        rig.awaitRecords(records);
        await("saved")
                .atMost(SOON)
                .until(() ->
                        rig.number("select count(*) from outbox_event e, (select window_from f from outbox_position"
                                        + " order by number desc limit 1) p where pg_visible_in_snapshot(e.tx, p.f)")
                                == records);
    }

    private static String id(ConsumerRecord<byte[], byte[]> record) {
        return new String(record.headers().lastHeader("ce_id").value(), StandardCharsets.UTF_8);
    }
}
