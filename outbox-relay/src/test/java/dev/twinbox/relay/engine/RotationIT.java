package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.relay.OutboxDatabaseFixture;
import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.jdbc.EventSlots;
import dev.twinbox.relay.jdbc.EventSlots.Outcome;
import dev.twinbox.relay.jdbc.LeaseTable;
import dev.twinbox.relay.jdbc.Position;
import dev.twinbox.relay.jdbc.PositionTable;
import dev.twinbox.relay.jdbc.Snapshot;
import dev.twinbox.schema.OutboxSchema;
import dev.twinbox.schema.Retention;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** When a slot is emptied, what prevents it, and how the operator learns of it. */
@Tag("proof")
class RotationIT {
    private static final OutboxSchema TABLES = OutboxDatabaseFixture.SCHEMA;

    /** The test sets the active slot by hand. A session may still use an old one. */
    private static final String SLOT_BY_HAND = "create table turn as select 0::smallint as slot;"
            + "create function turn() returns smallint language sql as 'select slot from turn';"
            + "alter table outbox_event alter column slot"
            + " set default coalesce(nullif(current_setting('test.slot', true), '')::smallint, turn())";

    private EngineRig rig;
    private Connection housekeeping;
    private EventSlots slots;
    private final ObservedOutbox observed = new ObservedOutbox(System::nanoTime);
    private SlotRotation rotation;

    @BeforeEach
    void createTables() throws SQLException {
        rig = EngineRig.create().withTopic();
        rig.execute(SLOT_BY_HAND);
        housekeeping = rig.relayDatabase.connect();
        slots = new EventSlots(housekeeping, TABLES, "relay");
        rotation = new SlotRotation(slots, TABLES, observed, Duration.ZERO);
    }

    @AfterEach
    void close() throws SQLException {
        housekeeping.close();
        rig.close();
    }

    @Test
    void aRunningRelayEmptiesWhatItHasSentWhenTheSlotHasHadItsTurn() throws Exception {
        EngineRig.Running relay = rig.start();
        try (Connection writer = rig.connect()) {
            rig.insert(writer, "k", "1");
            rig.awaitRecords(1);
            nextTurn(1);
            await().until(() -> count() == 0);
            OutboxDatabaseFixture.execute(writer, "set test.slot = 0");
            rig.insert(writer, "k", "2: of a transaction that began when the slot had its turn");
            rig.awaitRecords(2);
            await().until(() -> count() == 0);
        }
        // It is counted after its commit.
        await().until(() -> relay.progress().observed().slotsEmptied() == 2);
        await().until(() ->
                Objects.requireNonNullElse(relay.progress().observed().bytes(), 0L) > 0);
        assertThat(relay.stop()).isEqualTo(ExitCode.OK);
        assertThat(rig.payloads()).hasSize(2);
    }

    @Test
    void aWindowThatEndsWithAFullPageIsSavedAsEnded() throws Exception {
        try (Connection writer = rig.connect()) {
            writer.setAutoCommit(false);
            for (int i = 0; i < rig.page.rows(); i++) {
                rig.insert(writer, "k", "of a full page");
            }
            writer.commit();
        }
        EngineRig.Running relay = rig.start();
        rig.awaitRecords(rig.page.rows());
        nextTurn(1);
        await().until(() -> count() == 0);
        assertThat(relay.stop()).isEqualTo(ExitCode.OK);
    }

    @Test
    void theSlotThatHasItsTurnIsLeftAlone() throws SQLException {
        sendOne();
        assertThat(rotation.runOnce()).isZero();
        assertThat(count()).isEqualTo(1);
        assertThat(observed.rotationStop()).isEmpty();
    }

    @Test
    void anUnsentEventKeepsItsSlot() throws SQLException {
        sendOne();
        try (Connection writer = rig.connect()) {
            rig.insert(writer, "k", "not sent");
        }
        nextTurn(1);
        assertThat(rotation.runOnce()).isZero();
        assertThat(count()).isEqualTo(2);
        assertThat(observed.rotationStop()).contains("outbox_event_slot0", "not all of it sent by \"relay\"");
    }

    @Test
    void anEventOfATransactionThatWasInProgressInTheSavedPositionKeepsItsSlot() throws SQLException {
        try (Connection early = rig.connect()) {
            early.setAutoCommit(false);
            OutboxDatabaseFixture.query(early, "select pg_current_xact_id()");
            sendOne();
            assertThat(rig.number("select count(*) from outbox_position, pg_snapshot_xip(window_from)"))
                    .isPositive();
            rig.insert(early, "k", "late");
            early.commit();
        }
        nextTurn(1);
        assertThat(rotation.runOnce()).isZero();
        assertThat(count()).isEqualTo(2);
    }

    @Test
    void anOpenTransactionAndAPreparedOneKeepTheirSlotAndAreNamed() throws SQLException {
        sendOne();
        try (Connection open = rig.connect()) {
            open.setAutoCommit(false);
            rig.insert(open, "k", "open");
            String pid = OutboxDatabaseFixture.query(open, "select pg_backend_pid()");
            nextTurn(1);
            assertThat(slots.tryEmpty(0).kind()).isEqualTo(Outcome.Kind.LOCKED);
            rotation.runOnce();
            assertThat(observed.rotationStop()).contains("in use by session " + pid);
            String gid = "in doubt " + UUID.randomUUID();
            OutboxDatabaseFixture.execute(open, "prepare transaction '" + gid + "'");
            rotation.runOnce();
            assertThat(observed.rotationStop()).contains("in use by prepared transaction '" + gid + "'");
            open.setAutoCommit(true);
            OutboxDatabaseFixture.execute(open, "rollback prepared '" + gid + "'");
        }
        assertThat(rotation.runOnce()).isEqualTo(1);
        assertThat(observed.rotationStop()).isEmpty();
        assertThat(count()).isZero();
    }

    @Test
    void aWriterDoesNotWaitBehindTheRotation() throws Exception {
        sendOne();
        nextTurn(1);
        try (Connection reader = rig.connect();
                Connection writer = rig.connect()) {
            reader.setAutoCommit(false);
            OutboxDatabaseFixture.query(reader, "select 1 from outbox_event where slot = 0"); // blocks the rotation
            OutboxDatabaseFixture.execute(writer, "set lock_timeout = '10s'; set test.slot = 0");
            CompletableFuture<Integer> rotating = CompletableFuture.supplyAsync(this::rotate);
            do {
                rig.insert(writer, "k", "into the slot that is wanted");
            } while (!rotating.isDone());
            assertThat(rotating.get()).isZero();
        }
    }

    private int rotate() {
        try {
            return rotation.runOnce();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void eachRelayOfTheTableIsAskedAndOneThatHasNeverSentCounts() throws SQLException {
        sendOne();
        UUID owner = UUID.randomUUID();
        new LeaseTable(housekeeping, TABLES, "second").take(owner, Duration.ofMinutes(1), 1);
        rig.execute("insert into outbox_lease (relay, epoch, ends_at, system_identifier, events)"
                + " values ('of another table', 1, now(), 1, 'public.invoices_event')");
        nextTurn(1);
        rotation.runOnce();
        assertThat(observed.rotationStop()).endsWith("not all of it sent by \"second\"");
        // The advice of docs/how-to/relay-in-production.md for a relay that is gone.
        rig.execute("delete from outbox_lease where relay = 'second'");
        assertThat(rotation.runOnce()).isEqualTo(1);
    }

    @Test
    void withoutALeaseOfItsOwnNothingIsEmptied() throws SQLException {
        sendOne();
        nextTurn(1);
        rig.execute("delete from outbox_lease");
        assertThat(rotation.runOnce()).isZero();
        assertThat(count()).isEqualTo(1);
    }

    @Test
    void aMissingPrivilegeIsNamed() throws SQLException {
        sendOne();
        nextTurn(1);
        String role = "weak_" + rig.database.name();
        rig.execute("create role " + role + "; grant select on all tables in schema public to " + role);
        OutboxDatabaseFixture.execute(housekeeping, "set role " + role);
        rotation.runOnce();
        assertThat(observed.rotationStop()).contains("grant truncate on \"outbox_event_slot0\"");
    }

    @Test
    void theLengthOfASlotIsChangedInTheTableAndForEverKeepsAll() throws SQLException {
        OutboxDatabaseFixture fresh = OutboxDatabaseFixture.createRotating(OutboxDatabaseFixture.server());
        try (Connection connection = fresh.connect()) {
            assertThat(TABLES.retention(connection)).isEqualTo(Retention.DEFAULT);
            assertThat(TABLES.retain(fresh.dataSource(), Retention.parse("PT90M")))
                    .isEqualTo(Retention.DEFAULT);
            assertThat(TABLES.retention(connection)).hasToString("PT1H30M");
            assertThat(TABLES.retain(fresh.dataSource(), Retention.FOREVER)).hasToString("PT1H30M");
            assertThat(TABLES.retention(connection)).isEqualTo(Retention.FOREVER);
            OutboxDatabaseFixture.insert(connection, "k", "kept");
            assertThat(TABLES.currentSlot(connection)).isZero();
            assertThat(OutboxDatabaseFixture.query(connection, "select slot from outbox_event"))
                    .isEqualTo("0");
            OutboxDatabaseFixture.execute(connection, SLOT_BY_HAND);
            assertThat(TABLES.retention(connection)).isNull();
        }
    }

    @Test
    void aDatabaseThatCrashesAmongRotationsLosesNothing() throws Exception {
        try (PostgresServer server = PostgresServer.create().start();
                EngineRig crashing = new EngineRig(OutboxDatabaseFixture.create(server)).withTopic()) {
            crashing.execute("alter table outbox_event alter column slot set default"
                    + " (((extract(epoch from now()) * 1000)::bigint / 300) % 3)::smallint");
            // The slots are emptied, so the committed events must be kept elsewhere.
            crashing.execute("create table committed as select topic, key, id, payload, seq from outbox_event;"
                    + "create function remember() returns trigger language plpgsql as $$ begin"
                    + " insert into committed values (new.topic, new.key, new.id, new.payload, new.seq);"
                    + " return null; end $$;"
                    + "create trigger remember after insert on outbox_event for each row execute function remember()");
            EngineRig.Running relay = crashing.start();
            ObservedOutbox seen = relay.progress().observed();
            for (int crash = 0; crash < 3; crash++) {
                long before = seen.slotsEmptied();
                while (seen.slotsEmptied() < before + 2) {
                    insertSome(crashing);
                }
                server.kill();
                server.start();
            }
            crashing.assertExact("committed");
            assertThat(relay.stop()).isEqualTo(ExitCode.OK);
        }
    }

    private static void insertSome(EngineRig rig) throws SQLException {
        try (Connection connection = rig.connect()) {
            for (int i = 0; i < 20; i++) {
                rig.insert(connection, "k" + ThreadLocalRandom.current().nextInt(5), "crash or no crash");
            }
        }
    }

    /** An event in slot 0, sent by a relay that has ended. */
    private void sendOne() throws SQLException {
        UUID owner = UUID.randomUUID();
        try (Connection connection = rig.connect()) {
            rig.insert(connection, "k", "sent");
            long epoch = new LeaseTable(connection, TABLES, "relay").take(owner, Duration.ofMinutes(1), 1);
            Snapshot now =
                    Snapshot.parse(OutboxDatabaseFixture.query(connection, "select pg_current_snapshot()::text"));
            PositionTable.Saved saved = new PositionTable.Saved(1, Position.closed(now));
            assertThat(new PositionTable(connection, TABLES, "relay").save(saved, owner, epoch))
                    .isTrue();
        }
    }

    private void nextTurn(int slot) throws SQLException {
        rig.execute("update turn set slot = " + slot);
    }

    private long count() throws SQLException {
        return rig.number("select count(*) from outbox_event");
    }
}
