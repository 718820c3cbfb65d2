package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.RelayProcess;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Events are sent again under load, while the owner of the lease is killed and a standby takes over. */
@Tag("proof")
class ResendKilledIT {
    private static final Duration SOON = Duration.ofSeconds(180);
    private static final int EVENTS = 3_000;
    private static final int KEYS = 10;

    @Test
    void aJobGoesOnAfterAKillInOrderOfItsKeysWhileOtherEventsAreSent() throws Exception {
        try (RelayRig rig = RelayRig.create()) {
            Map<String, String> config = Map.of("twinbox.relay.lease", "PT2S", "twinbox.relay.page.rows", "5");
            rig.command(config, "migrate");
            List<RelayProcess> relays =
                    List.of(rig.relay(config).start(), rig.relay(config).start());
            rig.execute("insert into outbox_event (id, topic, key, type, source, occurred_at, content_type, payload)"
                    + " select gen_random_uuid(), '" + rig.topic() + "', 'old' || g % " + KEYS
                    + ", 'test.happened', '/test', clock_timestamp(), 'text/plain', g::text::bytea"
                    + " from generate_series(1, " + EVENTS + ") g");
            await("all are sent")
                    .atMost(SOON)
                    .until(() -> rig.count(
                                    "select count(*) from outbox_event e, (select window_from f from outbox_position"
                                            + " order by number desc limit 1) p where pg_visible_in_snapshot(e.tx, p.f)")
                            == EVENTS);
            long before = rig.recordCount();
            assertThat(rig.command(config, "resend", "--from", "1", "--to", Integer.toString(EVENTS + 1), "--dry-run"))
                    .contains(rig.topic() + ": " + EVENTS + " events", "nothing is requested: dry run");
            long live;
            try (BusinessLoad load = BusinessLoad.start(rig, 1)) {
                assertThat(rig.command(config, "resend", "--from", "1", "--to", Integer.toString(EVENTS + 1)))
                        .contains("requested as job 1");
                for (int kill = 1; kill <= 2; kill++) {
                    long sent = rig.count("select sent from outbox_resend");
                    await("some are sent").atMost(SOON).until(() -> rig.count("select sent from outbox_resend") > sent);
                    assertThat(rig.count("select count(*) from outbox_resend where state = 'running'"))
                            .as("the job is long enough")
                            .isOne();
                    killOwner(rig, relays);
                }
                await("done")
                        .atMost(SOON)
                        .until(() -> rig.count("select count(*) from outbox_resend where state = 'finished'") == 1);
                live = load.commits();
            }
            assertThat(live).isPositive();
            rig.assertExact();
            List<String> resent = checkOrder(rig, before);
            assertThat(resent.stream().distinct()).as("each event again").hasSize(EVENTS);
            assertThat(rig.command(config, "resend")).contains("job 1 finished, from \"1\"");
            assertThat(rig.command(config, "status")).containsPattern("resend +no job");
            assertThat(rig.command(config, "actions")).contains("resend\t-\tfrom \"1\", to \"" + (EVENTS + 1) + '"');
            for (RelayProcess relay : relays) {
                assertThat(relay.terminate()).as(relay.log()).isZero();
            }
        }
    }

    /** A repeated part begins again earlier in its key; nothing is left out. Returns the ids of what was sent again. */
    private static List<String> checkOrder(RelayRig rig, long before) throws SQLException {
        Map<String, List<String>> expected = new HashMap<>();
        try (Connection connection = rig.connect();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(
                        "select key, id from outbox_event where seq <= " + EVENTS + " order by seq")) {
            while (row.next()) {
                expected.computeIfAbsent(row.getString(1), key -> new ArrayList<>())
                        .add(row.getString(2));
            }
        }
        Map<String, List<String>> all = new HashMap<>();
        for (ConsumerRecord<byte[], byte[]> record : rig.records()) {
            all.computeIfAbsent(new String(record.key(), StandardCharsets.UTF_8), key -> new ArrayList<>())
                    .add(RelayRig.id(record));
        }
        List<String> resent = new ArrayList<>();
        expected.forEach((key, ids) -> {
            List<String> onTopic = all.get(key);
            // What relays repeated before the job is before the last first appearance or follows it at once.
            List<String> again = onTopic.subList(onTopic.indexOf(ids.get(ids.size() - 1)) + 1, onTopic.size());
            int last = -1;
            for (String id : again) {
                int place = ids.indexOf(id);
                assertThat(place).as("next of " + key + " after " + last).isLessThanOrEqualTo(last + 1);
                last = place;
            }
            assertThat(last).as("the last one of " + key).isEqualTo(ids.size() - 1);
            resent.addAll(again);
        });
        assertThat(before).isGreaterThanOrEqualTo(EVENTS);
        return resent;
    }

    private static void killOwner(RelayRig rig, List<RelayProcess> relays) throws SQLException {
        long epoch = rig.epoch(); // Read before the kill: in between, a slow machine may cost the owner its lease.
        RelayProcess owner = rig.owner(relays);
        owner.kill();
        owner.start();
        await("another owner").atMost(SOON).until(() -> rig.epoch() > epoch);
    }
}
