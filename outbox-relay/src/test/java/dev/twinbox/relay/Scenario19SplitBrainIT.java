package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.RelayProcess;
import dev.twinbox.fixtures.TcpProxy;
import dev.twinbox.relay.jdbc.LeaseTable;
import dev.twinbox.relay.jdbc.OutboxRecord;
import dev.twinbox.relay.jdbc.Position;
import dev.twinbox.relay.jdbc.PositionTable;
import dev.twinbox.relay.jdbc.Snapshot;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** SPLIT-BRAIN: an owner that slept through its lease or was cut off notices it and does no harm. */
class Scenario19SplitBrainIT {
    private static final Duration SOON = Duration.ofSeconds(90);
    private static final int PAGE_BYTES = 20_000;
    private static final int PAGES = 4;

    private static final Map<String, String> CONFIG = Map.of(
            "twinbox.relay.lease", "PT5S",
            "twinbox.relay.page.bytes", Integer.toString(PAGE_BYTES),
            "twinbox.relay.page.in-flight", Integer.toString(PAGES));

    @Test
    void anOwnerThatSleptThroughItsLeaseNeverMovesThePosition() throws Exception {
        try (RelayRig rig = RelayRig.create()) {
            List<RelayProcess> relays = List.of(rig.startRelay(CONFIG), rig.relay(CONFIG));
            RelayProcess standby = relays.get(1).start();
            Scenario20CrashClaimIT.awaitStandby(standby);
            try (BusinessLoad load = BusinessLoad.start(rig, 4)) {
                for (int i = 0; i < 2; i++) {
                    rig.awaitRecords(rig.recordCount() + 200);
                    sleepThroughTheLease(rig, rig.owner(relays));
                }
                assertThat(load.commits()).isPositive();
            }
            assertOneOwnerAtATime(rig);
            assertRepeatsAreOfLostLeases(rig);
        }
    }

    /** A third relay starts and stops meanwhile, and may take the lease. */
    private static void sleepThroughTheLease(RelayRig rig, RelayProcess owner) throws SQLException {
        long epoch = rig.epoch();
        int losses = losses(owner);
        owner.pause();
        RelayProcess third = rig.relay(CONFIG).start();
        await("another owner").atMost(SOON).until(() -> rig.epoch() > epoch);
        awaitSave(rig);
        owner.resume();
        await("it noticed").atMost(SOON).until(() -> losses(owner) > losses);
        awaitSave(rig);
        third.terminate();
    }

    @Test
    @Tag("proof")
    void anOwnerCutOffFromTheDatabaseSendsAndChangesNothingAfterItsLease() throws Exception {
        try (RelayRig rig = RelayRig.create();
                TcpProxy proxy = TcpProxy.to("127.0.0.1", RelayRig.POSTGRES.port())) {
            Map<String, String> cutOff = new HashMap<>(CONFIG);
            cutOff.put("twinbox.relay.database.url", RelayRig.POSTGRES.jdbcUrl(rig.database(), proxy));
            RelayProcess owner = rig.startRelay(cutOff);
            RelayProcess standby = rig.relay(CONFIG).start();
            Scenario20CrashClaimIT.awaitStandby(standby);
            try (BusinessLoad load = BusinessLoad.start(rig, 4)) {
                rig.awaitRecords(rig.recordCount() + 200);
                long epoch = rig.epoch();
                proxy.blackHole(); // Statements sent now arrive when the line is restored.
                await("another owner").atMost(SOON).until(() -> rig.epoch() > epoch);
                awaitSave(rig);
                proxy.heal();
                await("it noticed").atMost(SOON).until(() -> losses(owner) > 0);
                awaitSave(rig);
                assertThat(load.commits()).isPositive();
            }
            assertOneOwnerAtATime(rig);
            assertRepeatsAreOfLostLeases(rig);
        }
    }

    @Test
    void aStatementOfAnEarlierEpochOfTheSameOwnerChangesNothing() throws Exception {
        OutboxDatabaseFixture database = OutboxDatabaseFixture.create();
        try (Connection connection = database.connect()) {
            UUID owner = UUID.randomUUID();
            LeaseTable lease = new LeaseTable(connection, OutboxDatabaseFixture.SCHEMA, "relay");
            PositionTable positions = new PositionTable(connection, OutboxDatabaseFixture.SCHEMA, "relay");
            Position position = Position.closed(Snapshot.parse("10:10:"));
            long early = lease.take(owner, Duration.ofMinutes(1), 1);
            long late = lease.take(owner, Duration.ofMinutes(1), 1);
            assertThat(late).isGreaterThan(early);

            assertThat(lease.renew(owner, early, Duration.ofMinutes(1))).isFalse();
            assertThat(positions.save(new PositionTable.Saved(1, position), owner, early))
                    .isFalse();
            lease.release(owner, early);

            assertThat(lease.look().owner()).isEqualTo(owner);
            assertThat(positions.load()).isEqualTo(PositionTable.Saved.NOTHING);
            assertThat(positions.save(new PositionTable.Saved(1, position), owner, late))
                    .isTrue();
        }
    }

    @Test
    @Tag("proof")
    void theLeaseIsRenewedOnceASecondAtMostHoweverShortItIs() throws Exception {
        try (RelayRig rig = RelayRig.create();
                Connection connection = rig.connect();
                Statement statement = connection.createStatement()) {
            statement.execute("create table renewal (at timestamptz default clock_timestamp());"
                    + "create function note() returns trigger language plpgsql as"
                    + " 'begin insert into renewal default values; return null; end';"
                    + "create trigger note after update on outbox_lease for each row execute function note()");
            rig.startRelay(Map.of("twinbox.relay.lease", "PT2S"));
            try (BusinessLoad load = BusinessLoad.start(rig, 1)) {
                await().atMost(SOON).until(() -> rig.count("select count(*) from renewal") >= 8);
                assertThat(load.commits()).isPositive();
            }
            // The median gap: a machine that stalls makes one gap longer and the next one shorter.
            assertThat(rig.count("select (percentile_cont(0.5) within group (order by gap) * 1000)::bigint from"
                            + " (select extract(epoch from at - lag(at) over (order by at)) as gap from renewal) g"))
                    .as("milliseconds between two renewals")
                    .isGreaterThan(900);
        }
    }

    private static int losses(RelayProcess relay) {
        return (int) relay.log()
                .lines()
                .filter(line -> line.contains("Lost the lease"))
                .count();
    }

    private static void awaitSave(RelayRig rig) throws SQLException {
        long saves = rig.saves();
        await("a saved position").atMost(SOON).until(() -> rig.saves() > saves);
    }

    /** Positions in the order of saving: no earlier epoch after a later one, no number missing or repeated. */
    private static void assertOneOwnerAtATime(RelayRig rig) throws SQLException {
        rig.assertExact();
        assertThat(rig.count(
                        "select count(*) from (select epoch, number, lag(epoch) over w as e, lag(number) over w as n"
                                + " from " + rig.tables().position() + " window w as (order by saved_at)) p"
                                + " where epoch < e or number <> n + 1"))
                .as("positions saved by a process that was not the owner")
                .isZero();
    }

    /** Repeated events come only from what was in flight when an owner was replaced, or replaced itself. */
    private static void assertRepeatsAreOfLostLeases(RelayRig rig) throws SQLException {
        Set<String> ids = new HashSet<>();
        int records = 0;
        for (ConsumerRecord<byte[], byte[]> record : rig.records()) {
            ids.add(RelayRig.id(record));
            records++;
        }
        assertThat(records - ids.size())
                .as("repeats")
                .isLessThanOrEqualTo((int) (rig.epoch() - 1) * PAGES * PAGE_BYTES / OutboxRecord.OVERHEAD);
    }
}
