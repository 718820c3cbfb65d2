package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.relay.OutboxDatabaseFixture;
import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelayException;
import dev.twinbox.relay.jdbc.LeaseTable;
import dev.twinbox.relay.jdbc.OutboxDatabase;
import dev.twinbox.relay.jdbc.Position;
import dev.twinbox.relay.jdbc.PositionTable;
import dev.twinbox.relay.jdbc.Rebase;
import dev.twinbox.relay.jdbc.Snapshot;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.postgresql.copy.CopyManager;
import org.postgresql.core.BaseConnection;

/**
 * An outbox that is dumped in one cluster and restored in another, as pg_dump does it: by COPY, and with its sequences.
 */
@Tag("proof")
class RestoreIT {
    private static PostgresServer other;

    @BeforeAll
    static void startAnotherCluster() {
        other = PostgresServer.create().start();
    }

    @AfterAll
    static void stop() {
        other.close();
    }

    @Test
    void aRestoredOutboxIsRefusedUntilItIsRebasedAndThenGoesOnInOrderWhereItWas() throws Exception {
        // Ids of the old cluster are far below those of the new one, or far above.
        for (boolean ahead : new boolean[] {true, false}) {
            PostgresServer from = ahead ? OutboxDatabaseFixture.server() : other;
            PostgresServer to = ahead ? other : OutboxDatabaseFixture.server();
            burnIds(from, ahead ? 20_000 : 0);
            burnIds(to, ahead ? 0 : 20_000);
            List<String> expected = new ArrayList<>();
            OutboxDatabaseFixture old = halfSent(from, expected);
            OutboxDatabaseFixture restored = restore(old, to);
            try (EngineRig rig = new EngineRig(restored).withTopic();
                    Connection owner = restored.connect()) {
                restoreAs(owner, rig.topic);
                assertThat(rig.start().refusal())
                        .hasMessageContaining("\"twinbox-relay rebase\"")
                        .extracting(RelayException::exitCode)
                        .isEqualTo(ExitCode.DATABASE);
                OutboxDatabaseFixture.execute(owner, "insert into outbox_resend (relay) values ('relay')");
                insertWithin(owner, rig.topic, "written here");
                insertWithinSavepoint(owner, rig.topic, "written here, too");
                expected.addAll(List.of("written here", "written here, too"));

                Rebase rebase = new Rebase(owner, OutboxDatabaseFixture.SCHEMA);
                long identifier = OutboxDatabase.identify(owner).systemIdentifier();
                Rebase.Result preview = rebase.preview(identifier);
                assertThat(rebase.run(identifier)).isEqualTo(preview);
                assertThat(OutboxDatabaseFixture.query(owner, "select state || ': ' || error from outbox_resend"))
                        .isEqualTo("failed: the outbox was rebased: request it again");
                assertThat(preview.relays()).containsExactly("relay");
                assertThat(preview.sent()).isEqualTo(5);
                assertThat(preview.unsent()).isEqualTo(expected.size() - 2);
                assertThat(preview.here()).isEqualTo(2);

                EngineRig.Running relay = rig.start();
                rig.awaitRecords(expected.size());
                insertWithin(owner, rig.topic, "after");
                expected.add("after");
                rig.awaitRecords(expected.size());
                assertThat(rig.payloads()).isEqualTo(expected);
                assertThatThrownBy(() -> rebase.run(identifier))
                        .isInstanceOf(RelayException.class)
                        .hasMessageContaining("relays run on");
                rotates(rig, owner);
                assertThat(relay.stop()).isEqualTo(ExitCode.OK);
            }
        }
    }

    @Test
    void aWriterThatHasItsIdAlreadyAndWritesAfterTheRebaseIsSentToo() throws Exception {
        List<String> expected = new ArrayList<>();
        OutboxDatabaseFixture restored = restore(halfSent(OutboxDatabaseFixture.server(), expected), other);
        try (EngineRig rig = new EngineRig(restored).withTopic();
                Connection owner = restored.connect();
                Connection early = restored.connect()) {
            restoreAs(owner, rig.topic);
            early.setAutoCommit(false);
            OutboxDatabaseFixture.query(early, "select pg_current_xact_id()");
            new Rebase(owner, OutboxDatabaseFixture.SCHEMA)
                    .run(OutboxDatabase.identify(owner).systemIdentifier());
            rig.insert(early, "k", "early");
            early.commit();
            expected.add("early");
            EngineRig.Running relay = rig.start();
            rig.awaitRecords(expected.size());
            assertThat(rig.payloads()).isEqualTo(expected);
            assertThat(relay.stop()).isEqualTo(ExitCode.OK);
        }
    }

    @Test
    void afterAnUpgradeOfTheClusterOnlyTheIdentifierIsSet() throws Exception {
        List<String> expected = new ArrayList<>();
        OutboxDatabaseFixture upgraded = halfSent(OutboxDatabaseFixture.server(), expected);
        try (EngineRig rig = new EngineRig(upgraded).withTopic();
                Connection owner = upgraded.connect()) {
            OutboxDatabaseFixture.execute(
                    owner,
                    "update outbox_event set topic = '" + rig.topic
                            + "'; update outbox_lease set system_identifier = 42");
            assertThat(new Rebase(owner, OutboxDatabaseFixture.SCHEMA)
                            .adopt(OutboxDatabase.identify(owner).systemIdentifier()))
                    .containsExactly("relay");
            EngineRig.Running relay = rig.start();
            rig.awaitRecords(expected.size());
            assertThat(rig.payloads()).isEqualTo(expected);
            assertThat(relay.stop()).isEqualTo(ExitCode.OK);
        }
    }

    @Test
    void theOwnTransactionIsInProgressInTheNewPosition() {
        Snapshot snapshot = Snapshot.parse("10:20:10,15");
        assertThat(snapshot.including(BigInteger.valueOf(12))).hasToString("10:20:10,12,15");
        assertThat(Snapshot.parse("10:20:").including(BigInteger.valueOf(7))).hasToString("7:20:7");
        assertThat(snapshot.including(BigInteger.valueOf(20))).isEqualTo(snapshot);
    }

    /** All of it is sent, so the slots can be emptied, whatever ids the restored rows had. */
    private static void rotates(EngineRig rig, Connection owner) throws SQLException {
        OutboxDatabaseFixture.execute(owner, "alter table outbox_event alter column slot set default 1");
        await().until(() -> rig.number("select count(*) from outbox_event") == 0);
    }

    /**
     * Five events were sent, three of them in a window that is still open. The rest of the window and all later events
     * are unsent. Adds what the relay has to send to {@code unsent}, in order.
     */
    private static OutboxDatabaseFixture halfSent(PostgresServer server, List<String> unsent) throws SQLException {
        OutboxDatabaseFixture fixture = OutboxDatabaseFixture.create(server);
        try (Connection writer = fixture.connect();
                Connection first = fixture.connect()) {
            first.setAutoCommit(false);
            String low = OutboxDatabaseFixture.query(first, "select nextval('outbox_event_seq')");
            OutboxDatabaseFixture.insert(writer, "k", "sent 1");
            OutboxDatabaseFixture.insert(writer, "k", "sent 2");
            String from = OutboxDatabaseFixture.query(writer, "select pg_current_snapshot()");
            for (String payload : List.of("sent 3", "sent 4", "sent 5", "unsent 1", "unsent 2")) {
                OutboxDatabaseFixture.insert(writer, "k", payload);
            }
            String to = OutboxDatabaseFixture.query(writer, "select pg_current_snapshot()");
            OutboxDatabaseFixture.insert(first, "k", "unsent 3, its number lower, its window later");
            OutboxDatabaseFixture.execute(
                    first, "update outbox_event set seq = " + low + " where payload like 'unsent 3%'");
            first.commit();
            unsent.addAll(List.of("unsent 1", "unsent 2", "unsent 3, its number lower, its window later"));
            UUID owner = UUID.randomUUID();
            long epoch = new LeaseTable(writer, OutboxDatabaseFixture.SCHEMA, "relay")
                    .take(
                            owner,
                            Duration.ofSeconds(1),
                            OutboxDatabase.identify(writer).systemIdentifier());
            Position position = Position.open(
                    Snapshot.parse(from),
                    Snapshot.parse(to),
                    Long.parseLong(OutboxDatabaseFixture.query(
                            writer, "select seq from outbox_event where payload = 'sent 5'")));
            assertThat(new PositionTable(writer, OutboxDatabaseFixture.SCHEMA, "relay")
                            .save(new PositionTable.Saved(1, position), owner, epoch))
                    .isTrue();
            new LeaseTable(writer, OutboxDatabaseFixture.SCHEMA, "relay").release(owner, epoch);
        }
        return fixture;
    }

    private static OutboxDatabaseFixture restore(OutboxDatabaseFixture from, PostgresServer server)
            throws SQLException, IOException {
        OutboxDatabaseFixture restored = OutboxDatabaseFixture.create(server);
        try (Connection source = from.connect();
                Connection target = restored.connect()) {
            for (String table : List.of("outbox_event", "outbox_lease", "outbox_position")) {
                ByteArrayOutputStream data = new ByteArrayOutputStream();
                new CopyManager(source.unwrap(BaseConnection.class))
                        .copyOut("copy (select * from " + table + ") to stdout", data);
                new CopyManager(target.unwrap(BaseConnection.class))
                        .copyIn("copy " + table + " from stdin", new ByteArrayInputStream(data.toByteArray()));
            }
            OutboxDatabaseFixture.execute(
                    target,
                    "select setval('outbox_event_seq', "
                            + OutboxDatabaseFixture.query(source, "select last_value from outbox_event_seq") + ")");
        }
        return restored;
    }

    /** As if these rows had been restored for this topic, the lease after the events, in pg_dump's order. */
    private static void restoreAs(Connection owner, String topic) throws SQLException {
        OutboxDatabaseFixture.execute(owner, "update outbox_event set topic = '" + topic + "'");
        OutboxDatabaseFixture.execute(owner, "update outbox_lease set epoch = epoch");
    }

    private static void burnIds(PostgresServer server, int ids) throws SQLException {
        try (Connection connection = server.connect("postgres")) {
            OutboxDatabaseFixture.execute(
                    connection,
                    "do $$ begin for i in 1.." + ids + " loop perform pg_current_xact_id(); commit; end loop; end $$");
        }
    }

    private static void insertWithin(Connection connection, String topic, String payload) throws SQLException {
        OutboxDatabaseFixture.insert(connection, topic, "k", payload.getBytes(StandardCharsets.UTF_8));
    }

    private static void insertWithinSavepoint(Connection connection, String topic, String payload) throws SQLException {
        connection.setAutoCommit(false);
        OutboxDatabaseFixture.query(connection, "select pg_current_xact_id()");
        OutboxDatabaseFixture.execute(connection, "savepoint s");
        insertWithin(connection, topic, payload);
        connection.commit();
        connection.setAutoCommit(true);
    }
}
