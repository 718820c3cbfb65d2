package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.relay.OutboxDatabaseFixture;
import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelayException;
import dev.twinbox.relay.jdbc.OutboxDatabase;
import dev.twinbox.relay.jdbc.Rebase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Rows copied from a cluster whose transaction ids are ahead, and no lease of this relay's name with them. Every window
 * found them again: some events were sent without end, others never. A rebase saw no lease and did nothing.
 */
class Fault20ForeignRowsIT {
    private static final int COPIED = 250;
    private static final Duration SOON = Duration.ofSeconds(30);

    @Test
    void theStartIsRefusedUntilARebaseWhichNeedsNoLease() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection owner = rig.connect()) {
            copyAhead(owner, rig.topic);
            refused(rig, rig.start());
            assertThat(rig.recordCount()).isZero();

            Rebase rebase = new Rebase(owner, OutboxDatabaseFixture.SCHEMA);
            long cluster = OutboxDatabase.identify(owner).systemIdentifier();
            Rebase.Result preview = rebase.preview(cluster);
            assertThat(rebase.run(cluster)).isEqualTo(preview);
            assertThat(preview.relays()).isEmpty();
            assertThat(preview.unsent()).isEqualTo(COPIED);
            assertThat(preview.sent() + preview.here()).isZero();

            EngineRig.Running relay = rig.start();
            rig.awaitRecords(COPIED);
            rig.insert(owner, "k", "after");
            rig.awaitRecords(COPIED + 1);
            assertThat(relay.stop()).isEqualTo(ExitCode.OK);
            assertThat(rig.payloadsOf("k")).containsExactlyElementsOf(expected("after"));
        }
    }

    @Test
    void metByARunningRelayTheyEndItBeforeAnyIsSent() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection owner = rig.connect()) {
            EngineRig.Running relay = rig.start();
            rig.insert(owner, "k", "before");
            rig.assertExact();
            await("saved").until(() -> rig.saves() > 0);
            copyAhead(owner, rig.topic);
            refused(rig, relay);
            assertThat(rig.payloads()).containsExactly("before");

            new Rebase(owner, OutboxDatabaseFixture.SCHEMA)
                    .run(OutboxDatabase.identify(owner).systemIdentifier());
            EngineRig.Running again = rig.start();
            rig.insert(owner, "k", "after");
            await("all of it").until(() -> rig.payloads().contains("after"));
            assertThat(again.stop()).isEqualTo(ExitCode.OK);
            // The rebase counts what was written here as unsent, so the first one comes twice.
            assertThat(rig.payloadsOf("k").stream().distinct()).hasSize(COPIED + 2);
            assertThat(rig.recordCount()).isBetween(COPIED + 2L, COPIED + 3L);
        }
    }

    /** Ids that fit by accident prove nothing about rows that were written elsewhere. */
    @Test
    void copiedRowsWhoseIdsAreBelowThePositionAreSentAfterARebase() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection owner = rig.connect()) {
            EngineRig.Running relay = rig.start();
            rig.insert(owner, "k", "before");
            rig.assertExact();
            await("saved").until(() -> rig.saves() > 0);
            copy(owner, rig.topic, "'10'::xid8");
            copyAhead(owner, rig.topic);
            refused(rig, relay);
            new Rebase(owner, OutboxDatabaseFixture.SCHEMA)
                    .run(OutboxDatabase.identify(owner).systemIdentifier());
            EngineRig.Running again = rig.start();
            rig.awaitRecords(2 * COPIED + 1L);
            assertThat(again.stop()).isEqualTo(ExitCode.OK);
        }
    }

    @Test
    void aLeaseOfAnyRelayNameTellsTheCluster() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection owner = rig.connect()) {
            rig.execute("insert into outbox_lease (relay, epoch, ends_at, system_identifier)"
                    + " values ('second', 1, clock_timestamp(), 42)");
            rig.insert(owner, "k", "copied");
            refused(rig, rig.start());
            rig.execute("delete from outbox_lease");
            EngineRig.Running relay = rig.start();
            rig.assertExact();
            assertThat(relay.stop()).isEqualTo(ExitCode.OK);
        }
    }

    private static void refused(EngineRig rig, EngineRig.Running relay) throws Exception {
        await("it ends, or sends again and again")
                .atMost(SOON)
                .until(() -> relay.end().isDone() || rig.recordCount() > 4 * COPIED);
        assertThat(relay.end())
                .as("refused; sent so far: %s", rig.recordCount())
                .isCompletedExceptionally();
        RelayException refusal = relay.refusal();
        assertThat(refusal.exitCode()).isEqualTo(ExitCode.DATABASE);
        assertThat(refusal).hasMessageContaining("twinbox-relay rebase");
    }

    private static List<String> expected(String last) {
        return IntStream.rangeClosed(1, COPIED + 1)
                .mapToObj(i -> i > COPIED ? last : "copied " + i)
                .toList();
    }

    private static void copyAhead(Connection owner, String topic) throws SQLException {
        copy(owner, topic, "(pg_current_xact_id()::text::bigint + 1000000 + i)::text::xid8");
    }

    /** As {@code COPY} brings them, with the ids of the other cluster. */
    private static void copy(Connection owner, String topic, String tx) throws SQLException {
        OutboxDatabaseFixture.execute(
                owner,
                "insert into outbox_event (tx, id, topic, key, type, source, occurred_at, content_type, payload)"
                        + " select " + tx + ", gen_random_uuid(), '" + topic
                        + "', 'k', 'order.placed', '/test', clock_timestamp(), 'text/plain',"
                        + " convert_to('copied ' || i, 'UTF8') from generate_series(1, " + COPIED + ") i");
    }
}
