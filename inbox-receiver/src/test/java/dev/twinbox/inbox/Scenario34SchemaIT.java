package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.twinbox.SchemaException;
import dev.twinbox.inbox.app.SchemaHandler;
import dev.twinbox.inbox.jdbc.InboxSchema;
import dev.twinbox.jdbc.SqlIdentifier;
import java.sql.Connection;
import java.sql.SQLException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Scenario 34, SCHEMA, the receiver's side: odd names and least privileges work. What is missing is named with its
 * remedy.
 */
class Scenario34SchemaIT {

    private static final String ODD = "\"Sales-EU 1\".\"In'\"\"Box\"";
    private static final String PARKED = "\"Sales-EU 1\".\"In'\"\"Box_parked\"";
    private static final String HANDLERS = "\"Sales-EU 1\".\"In'\"\"Box_handler\"";
    private static final String RETENTION = "\"Sales-EU 1\".\"In'\"\"Box_retention\"";
    private static final String OFFSET = "\"Sales-EU 1\".\"In'\"\"Box_offset\"";

    @Test
    @Tag("proof")
    void oddNamesAndLeastPrivilegesAreEnoughForARoundTripAndNothingIsCreatedElsewhere() {
        Database database = new Database("schema");
        database.migrate("Sales-EU 1", "In'\"Box");
        database.execute(
                "drop table inbox_event, inbox_parked, inbox_handler, inbox_event_retention, inbox_event_offset, "
                        + "inbox_lock, inbox_action, inbox_paused, inbox_replay, inbox_replayed, "
                        + "inbox_event_history");
        database.execute("create role least login password 'twinbox'");
        database.execute("revoke all on schema public from public");
        database.execute("grant usage on schema public, \"Sales-EU 1\" to least");
        database.execute("grant insert on effect, call to least");
        database.execute("grant select on call to least");
        database.execute("grant usage on all sequences in schema public to least");
        database.execute("grant select, insert, delete on " + ODD + " to least");
        database.execute("grant select, insert, update, delete on " + PARKED + " to least");
        database.execute("grant select, insert, update, delete on " + HANDLERS + " to least");
        database.execute("grant select, insert, update on " + RETENTION + ", " + OFFSET + " to least");
        database.execute("grant select on \"Sales-EU 1\".\"In'\"\"Box_paused\" to least");
        database.execute("grant select, update on \"Sales-EU 1\".\"In'\"\"Box_replay\" to least");
        database.execute("grant select, insert, delete on \"Sales-EU 1\".\"In'\"\"Box_replayed\" to least");
        Servers.kafka().createTopic("schema", 1);
        try (Topics topics = new Topics()) {
            MainApp.deploy(new TestApp("schema", "schema", "least", "twinbox")
                    .with(SchemaHandler.class)
                    .with("twinbox.inbox.schema", "Sales-EU 1")
                    .with("twinbox.inbox.table", "In'\"Box")
                    .with("twinbox.inbox.quick-tries", "1"));
            String id = Topics.id();

            topics.send("schema", id, "checked", 3);
            topics.send("schema", id);
            MainApp.awaitLagZero("schema", "schema");
            await().atMost(MainApp.LIMIT)
                    .untilAsserted(() -> assertThat(database.effects("schema")).containsExactly(id));

            // Old rows are deleted too.
            database.execute("insert into " + ODD + " select 'schema', 'h', 'old', now() - interval '20 days'");
            database.execute("update " + RETENTION + " set done_to = 'epoch', swept_at = 'epoch'");
            await().atMost(MainApp.LIMIT)
                    .untilAsserted(() -> assertThat(database.count(ODD + " where event_id = 'old'"))
                            .isZero());
            assertThat(database.count(PARKED)).isZero();
            assertThat(database.texts("select event_id from " + ODD)).containsExactly(id);
            assertThat(database.texts("select schemaname || '.' || tablename from pg_tables "
                            + "where schemaname not in ('pg_catalog', 'information_schema') "
                            + "and tablename not like '%history'"))
                    .containsExactlyInAnyOrder(
                            "public.effect",
                            "public.call",
                            "Sales-EU 1.In'\"Box",
                            "Sales-EU 1.In'\"Box_parked",
                            "Sales-EU 1.In'\"Box_handler",
                            "Sales-EU 1.In'\"Box_retention",
                            "Sales-EU 1.In'\"Box_offset",
                            "Sales-EU 1.In'\"Box_lock",
                            "Sales-EU 1.In'\"Box_action",
                            "Sales-EU 1.In'\"Box_paused",
                            "Sales-EU 1.In'\"Box_replay",
                            "Sales-EU 1.In'\"Box_replayed");
        } finally {
            Servers.payara().undeploy("schema");
        }
    }

    @Test
    void aMissingTableFailsTheDeploymentWithTheCommandThatCreatesIt() {
        Database database = new Database("bare");
        database.execute(
                "drop table inbox_event, inbox_parked, inbox_handler, inbox_event_retention, inbox_event_offset, "
                        + "inbox_lock, inbox_action, inbox_paused, inbox_replay, inbox_replayed, "
                        + "inbox_event_history");

        String log = Servers.payara()
                .deploy(
                        "bare",
                        new TestApp("bare", "bare").with(SchemaHandler.class).build());

        assertThat(Servers.payara().status("/bare/status")).isEqualTo(404);
        assertThat(log)
                .contains(
                        "The inbox cannot be used (database bare, search_path \"$user\", public): ",
                        "table \"inbox_event\" does not exist in the connection's search_path",
                        "table \"inbox_parked\" does not exist in the connection's search_path",
                        "table \"inbox_handler\" does not exist in the connection's search_path",
                        "table \"inbox_event_retention\" does not exist in the connection's search_path",
                        "What is missing is created by: java -jar twinbox-inbox-cli.jar migrate "
                                + "--url jdbc:postgresql://<host>/<database> --user <owner> --table 'inbox_event'");
    }

    @Test
    void aTableThatIsNoInboxIsNamedWithWhatItLacks() throws SQLException {
        Database database = new Database("nobox");
        database.execute("create table wrong (id text)");
        database.execute("create table unguarded (like inbox_event)");
        database.execute("create role nothing");

        assertThatThrownBy(() -> check(database, "wrong", "postgres"))
                .isInstanceOf(SchemaException.class)
                .hasMessageContainingAll(
                        "(database nobox",
                        "table \"wrong\" has no column consumer_group",
                        "table \"wrong\" has no column handler",
                        "table \"wrong\" has no column event_id",
                        "table \"wrong\" has no column handled_at",
                        "twinbox-inbox-cli.jar migrate");
        assertThatThrownBy(() -> check(database, "unguarded", "postgres"))
                .isInstanceOf(SchemaException.class)
                .hasMessageContaining("table \"unguarded\" has no unique index on (consumer_group, handler, event_id, "
                        + "event_source)");
        assertThatThrownBy(() -> check(database, "inbox_event", "nothing"))
                .isInstanceOf(SchemaException.class)
                .hasMessageContainingAll(
                        "grant select on table \"inbox_event\" to \"nothing\"",
                        "grant insert on table \"inbox_event\" to \"nothing\"",
                        "grant delete on table \"inbox_event\" to \"nothing\"");
        assertThat(check(database, "inbox_event", "postgres")).isEmpty();
    }

    private static String check(Database database, String table, String role) throws SQLException {
        try (Connection connection = database.connect();
                var statement = connection.createStatement()) {
            statement.execute("set role " + role);
            return new InboxSchema(new SqlIdentifier(null, table)).check(connection);
        }
    }
}
