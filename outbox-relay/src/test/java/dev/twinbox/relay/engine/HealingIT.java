package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.relay.OutboxDatabaseFixture;
import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelayException;
import dev.twinbox.relay.jdbc.StartCheck;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Faults of a running relay's database that pass: a fail-over, an altered table, tables of an earlier version. */
@Tag("proof")
class HealingIT {
    private static final Duration SOON = Duration.ofSeconds(90);

    @Test
    void aFailOverIsWaitedOutHotStandbyIncluded(@TempDir Path folder) throws Exception {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwxrwx"));
        Path data = folder.resolve("data");
        try (PostgresServer server =
                        PostgresServer.create().withDataDirectory(data).start();
                EngineRig rig = new EngineRig(OutboxDatabaseFixture.create(server)).withTopic()) {
            EngineRig.Running relay = rig.start();
            insert(rig, "before");
            rig.awaitRecords(1);
            becomeStandby(server, data);
            await().atMost(SOON)
                    .until(() ->
                            String.valueOf(relay.progress().databaseCause()).contains("hot standby"));
            try (Connection promoting = rig.connect()) {
                OutboxDatabaseFixture.query(promoting, "select pg_promote()");
            }
            insert(rig, "after");
            rig.assertExact();
            assertThat(relay.stop()).isEqualTo(ExitCode.OK);
        }
    }

    private static void becomeStandby(PostgresServer server, Path data) throws IOException {
        server.stop();
        Files.createFile(data.resolve("standby.signal"));
        server.start();
    }

    /** The answer of an old primary that became a standby while a pooler hides it: SQLSTATE 25006. */
    @Test
    void aDatabaseThatIsReadOnlyForAWhileIsWaitedOut() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic()) {
            EngineRig.Running relay = rig.start();
            insert(rig, "before");
            rig.awaitRecords(1);
            rig.execute("create function read_only() returns trigger language plpgsql as $$ begin"
                    + " raise exception 'cannot execute INSERT in a read-only transaction'"
                    + " using errcode = '25006'; end $$;"
                    + "create trigger read_only before insert on outbox_position"
                    + " for each row execute function read_only()");
            insert(rig, "meanwhile");
            await().atMost(SOON)
                    .until(() ->
                            String.valueOf(relay.progress().databaseCause()).contains("read-only"));
            rig.execute("drop trigger read_only on outbox_position");
            insert(rig, "after");
            rig.assertExact();
            await().atMost(SOON).until(() -> relay.progress().databaseCause() == null);
            assertThat(relay.stop()).isEqualTo(ExitCode.OK);
        }
    }

    /**
     * SQLSTATE 0A000, cached plan must not change result type: the driver or a new session prepares the statement
     * again.
     */
    @Test
    void aColumnThatChangesItsTypeUnderARunningRelayIsSurvived() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic()) {
            EngineRig.Running relay = rig.start();
            insert(rig, "before");
            rig.awaitRecords(1);
            rig.execute("alter table outbox_event alter column content_type type varchar(200)");
            rig.execute("alter table outbox_event add column extra text");
            insert(rig, "after");
            rig.assertExact();
            assertThat(relay.stop()).isEqualTo(ExitCode.OK);
        }
    }

    /**
     * What an operator does during the night: rewrites tables, rebuilds indexes, detaches slots and attaches them
     * again.
     */
    @Test
    void tablesMayBeRewrittenAndLoseIndexesAndPartitionsWhileTheRelayRuns() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic()) {
            EngineRig.Running relay = rig.start();
            insert(rig, "before");
            rig.awaitRecords(1);
            String slot = "outbox_event_slot" + rig.number("select slot from outbox_event");
            List<String> nightly = List.of(
                    "vacuum full outbox_event",
                    "vacuum full outbox_position",
                    "vacuum full outbox_lease",
                    "alter table outbox_position alter column relay type varchar(200)",
                    "alter table outbox_lease alter column relay type varchar(200)",
                    "alter table outbox_lease add column extra text",
                    "alter table outbox_parked alter column error type varchar(9000)",
                    "drop index outbox_event_by_seq; drop index outbox_event_by_tx",
                    "create index outbox_event_by_seq on outbox_event (seq)",
                    "create index outbox_event_by_tx on outbox_event (tx, seq)",
                    "reindex index outbox_event_by_tx",
                    ("alter table outbox_event detach partition %1$s;"
                                    + "alter table outbox_event attach partition %1$s for values in (%2$s)")
                            .formatted(slot, slot.substring(slot.length() - 1)),
                    "alter table %1$s rename to elsewhere; alter table elsewhere rename to %1$s".formatted(slot));
            for (String change : nightly) {
                long polls = relay.progress().polls();
                await("prepared statements")
                        .atMost(SOON)
                        .until(() -> relay.progress().polls() > polls + 3);
                rig.execute(change);
                insert(rig, change);
                rig.awaitRecords(rig.number("select count(*) from outbox_event"));
            }
            rig.assertExact();
            assertThat(relay.stop()).isEqualTo(ExitCode.OK);
        }
    }

    @Test
    void tablesOfThePreviousVersionDoUntilTheyAreMigratedUnderTheRunningRelay() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic()) {
            undoVersions4To11(rig);
            EngineRig.Running relay = rig.start();
            insert(rig, "with tables of version 3");
            rig.awaitRecords(1);
            try (Connection connection = rig.connect()) {
                assertThat(OutboxDatabaseFixture.SCHEMA.version(connection)).isEqualTo(3);
                assertThat(StartCheck.state(connection, rig.config()))
                        .contains("version 3", "\"migrate\" makes it 11", "as this relay needs them");
                // Undoes the steps' entries.
                OutboxDatabaseFixture.execute(
                        connection, "delete from outbox_event_history where version::integer >= 4");
            }
            assertThat(OutboxDatabaseFixture.SCHEMA
                            .migrate(rig.database.dataSource())
                            .version())
                    .isEqualTo("11");
            rig.execute("insert into outbox_scheduled"
                    + " (deliver_at, id, topic, key, type, source, occurred_at, content_type, payload)"
                    + " select now(), id, topic, key, type, source, occurred_at, content_type, 'scheduled'"
                    + " from outbox_event");
            rig.awaitRecords(2);
            assertThat(rig.payloads()).containsExactly("with tables of version 3", "scheduled");
            assertThat(relay.stop()).isEqualTo(ExitCode.OK);
        }
    }

    @Test
    void tablesOlderThanThatAreRefusedWithTheCommandThatMendsThem() throws Exception {
        try (EngineRig rig = EngineRig.create()) {
            undoVersions4To11(rig);
            rig.execute("drop table outbox_scheduled, outbox_parked");
            assertThat(rig.start().refusal())
                    .hasMessageContaining(
                            "has version 1; this relay works with versions 2 to 11: run \"twinbox-relay migrate\"")
                    .extracting(RelayException::exitCode)
                    .isEqualTo(ExitCode.SCHEMA);
        }
    }

    private static void undoVersions4To11(EngineRig rig) throws SQLException {
        rig.execute(
                "drop table outbox_resend, outbox_paused, outbox_action, outbox_lock; drop sequence outbox_lock_token");
        rig.execute("alter table outbox_lease drop column exactly_once, drop column emptied_seq;"
                + " alter table outbox_position drop column committed, drop column next_from, drop column next_to,"
                + " drop column next_seq, drop column from_floor, drop column to_floor, drop column next_from_floor,"
                + " drop column next_to_floor;"
                + " alter table outbox_parked drop column decided_state, drop column sent_as");
        try (Connection connection = rig.connect()) {
            String byHash = OutboxDatabaseFixture.query(
                    connection,
                    "select indexrelid::regclass from pg_index where indrelid = 'outbox_parked'::regclass"
                            + " and pg_get_indexdef(indexrelid) like '%sha256(%'");
            OutboxDatabaseFixture.execute(connection, "drop index " + byHash);
        }
        rig.execute("create index on outbox_parked (relay, topic, key, number) where key is not null");
        String limits = "drop constraint type_limited, drop constraint attributes_limited,"
                + " drop constraint payload_limited, drop constraint content_type_legal";
        rig.execute("alter table outbox_event " + limits + "; alter table outbox_scheduled " + limits
                + ", drop constraint deliver_at_limited");
    }

    private static void insert(EngineRig rig, String payload) throws SQLException {
        try (Connection connection = rig.connect()) {
            rig.insert(connection, "k", payload);
        }
    }
}
