package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.twinbox.relay.OutboxDatabaseFixture;
import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelayException;
import dev.twinbox.relay.jdbc.OutboxDatabase;
import dev.twinbox.relay.jdbc.Rebase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Row-level security hid the unsent events from the relay. It took what it did not see for not written, and emptied the
 * slot.
 */
class Fault38RowSecurityIT {
    private static final int HIDDEN = 105;
    private static final Duration SOON = Duration.ofSeconds(20);

    private EngineRig rig;
    private String role;

    @BeforeEach
    void withRole() throws SQLException {
        rig = EngineRig.create().withTopic();
        role = "\"relay of " + rig.database.name() + "\"";
        rig.execute("create role " + role + " login password 'relay'");
        rig.execute("grant select, insert, update, delete, truncate on all tables in schema public to " + role);
        rig.execute("grant usage on all sequences in schema public to " + role);
        PGSimpleDataSource source = rig.database.dataSource();
        source.setUser(role.replace("\"", ""));
        source.setPassword("relay");
        rig.relayDatabase = new OutboxDatabase(source, Duration.ofSeconds(20));
    }

    @AfterEach
    void close() throws SQLException {
        rig.close();
        rig.execute("drop owned by " + role);
        rig.execute("drop role " + role);
    }

    @ParameterizedTest
    @ValueSource(strings = {"outbox_event", "outbox_position", "outbox_lease", "outbox_parked", "outbox_scheduled"})
    void aTableWhoseRowsMayBeHiddenIsRefusedAtStartWithTheRemedies(String table) throws Exception {
        rig.execute("alter table " + table + " enable row level security");
        EngineRig.Running relay = rig.start();
        await("it ends or runs")
                .atMost(SOON)
                .until(() -> relay.end().isDone() || relay.progress().hasPolled());
        assertThat(relay.end()).as("refused, without waiting").isCompletedExceptionally();
        RelayException refusal = relay.refusal();
        assertThat(refusal.exitCode()).isEqualTo(ExitCode.SCHEMA);
        assertThat(refusal).hasMessageContainingAll(table, role, "row-level security", "BYPASSRLS", "disable");

        rig.execute("alter role " + role + " bypassrls");
        try (Connection connection = rig.connect()) {
            rig.insert(connection, "k", "seen");
        }
        EngineRig.Running allowed = rig.start();
        rig.assertExact();
        assertThat(allowed.stop()).isEqualTo(ExitCode.OK);
    }

    @Test
    void switchedOnUnderARunningRelayItEmptiesNothingAndAllIsSentWhenItIsOffAgain() throws Exception {
        try (Connection connection = rig.connect()) {
            EngineRig.Running relay = rig.start();
            rig.insert(connection, "k", "before");
            rig.assertExact();
            rig.execute("alter table outbox_event enable row level security");
            for (int i = 0; i < HIDDEN; i++) {
                rig.insert(connection, "k" + i % 7, "hidden " + i);
            }
            rig.execute("alter table outbox_event alter column slot set default 1");
            await("the relay says so")
                    .atMost(SOON)
                    .until(() -> String.valueOf(relay.progress().databaseCause()).contains("row-level security")
                            || rig.number("select count(*) from outbox_event") < HIDDEN);
            assertThat(rig.number("select count(*) from outbox_event")).isEqualTo(HIDDEN + 1);
            assertThat(relay.progress().databaseCause()).contains("row-level security", "BYPASSRLS");
            rig.execute("create table committed as select * from outbox_event");

            rig.execute("alter table outbox_event disable row level security");
            rig.assertExact("committed");
            await("ready").atMost(SOON).until(() -> relay.progress().databaseCause() == null);
            assertThat(relay.stop()).isEqualTo(ExitCode.OK);
        }
    }

    /** Policies of the lease table hide that another relay has still to send what is in the slot. */
    @Test
    void hiddenLeasesOfOtherRelaysKeepASlotToo() throws Exception {
        try (Connection connection = rig.connect()) {
            rig.execute("insert into outbox_lease (relay, epoch, ends_at, system_identifier)"
                    + " select 'second', 1, now(), system_identifier from pg_control_system()");
            EngineRig.Running relay = rig.start();
            rig.insert(connection, "k", "sent by one of two");
            rig.assertExact();
            rig.execute("create policy own on outbox_lease using (relay = 'relay')");
            rig.execute("alter table outbox_lease enable row level security");
            rig.execute("alter table outbox_event alter column slot set default 1");
            await("the relay says so")
                    .atMost(SOON)
                    .until(() -> String.valueOf(relay.progress().databaseCause()).contains("row-level security")
                            || rig.number("select count(*) from outbox_event") == 0);
            assertThat(rig.number("select count(*) from outbox_event")).isEqualTo(1);
        }
    }

    @Test
    void aRebaseThatDoesNotSeeAllRowsFails() throws Exception {
        rig.execute("alter table outbox_event enable row level security");
        rig.execute("alter table outbox_event force row level security");
        for (String table : new String[] {"outbox_event", "outbox_scheduled", "outbox_position", "outbox_lease"}) {
            rig.execute("alter table " + table + " owner to " + role);
        }
        try (Connection owner = rig.relayDatabase.connect()) {
            Rebase rebase = new Rebase(owner, OutboxDatabaseFixture.SCHEMA);
            assertThatThrownBy(() ->
                            rebase.run(OutboxDatabase.identify(owner).systemIdentifier()))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("row-level security");
        }
    }
}
