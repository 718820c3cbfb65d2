package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.console.actions.ActionLog;
import dev.twinbox.relay.config.ExitCode;
import jakarta.json.JsonObject;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each change by the command line has its row, written in its transaction, and nothing else has. */
class ActionLogIT {
    private CommandRig commands;

    @TempDir
    private Path folder;

    @BeforeEach
    void park() throws SQLException, IOException {
        commands = new CommandRig(folder);
        execute("insert into outbox_parked (relay, state, seq, topic, key, error)"
                + " select 'relay', 'refused', n, 'many', 'k' || n, 'e' from generate_series(1, 2500) n");
    }

    @AfterEach
    void close() throws SQLException {
        commands.close();
    }

    @Test
    void eachChangeHasOneRowWithItsSelectionAndNumber() throws SQLException {
        String who = OutboxDatabaseFixture.server().user() + " (" + System.getProperty("user.name") + ")";
        run("parked", "retry", "--topic", "many", "--error", "E");
        run("parked", "discard", "7", "8");
        run("pause");
        run("resume");

        assertThat(rows())
                .containsExactly(
                        who + "|command-line|retry|topic \"many\", error \"E\"|2500",
                        who + "|command-line|discard|numbers 7, 8|2",
                        who + "|command-line|pause|null|null",
                        who + "|command-line|resume|null|null");
        assertThat(run("actions", "--limit", "2").lines())
                .hasSize(3)
                .first()
                .isEqualTo("NUMBER\tAT\tWHO\tVIA\tACTION\tEVENTS\tSELECTION");
        JsonObject page = CommandRig.json(run("actions", "--limit", "2", "--json"));
        assertThat(page.getJsonArray("actions").getValuesAs(JsonObject.class))
                .extracting(each -> each.getString("action"))
                .containsExactly("resume", "pause");
        assertThat(page.getInt("next")).isEqualTo(3);
    }

    @Test
    void whatChangesNothingHasNone() throws SQLException {
        run("parked", "retry", "--all", "--dry-run");
        run("parked", "retry", "--key", "none");
        run("resume");
        run("pause");
        run("pause");
        assertThat(rows()).singleElement().asString().contains("|pause|");
        assertThat(run("actions", "--limit", "1").lines()).hasSize(2);
    }

    /** Whoever changes something without a row would be unseen. */
    @Test
    void withoutItsRowNothingIsChanged() throws SQLException {
        execute("alter table outbox_action add constraint full_up check (events < 1000 and events is not null)");
        assertThat(execute(ExitCode.DATABASE, "parked", "retry", "--all")).isEmpty();
        assertThat(execute(ExitCode.DATABASE, "pause")).isEmpty();
        assertThat(query("select count(*) from outbox_parked where state = 'ready'"))
                .isEqualTo("0");
        assertThat(query("select count(paused_at) from outbox_lease")).isEqualTo("0");
        assertThat(rows()).isEmpty();
    }

    /** Whatever ends a change in its middle: the row has what was changed until then. */
    @Test
    void aChangeThatBreaksOffHasTheNumberThatItReached() throws SQLException {
        execute("alter table outbox_action add constraint full_up check (events <= 2000)");
        execute(ExitCode.DATABASE, "parked", "discard", "--all");
        assertThat(query("select count(*) from outbox_parked where state = 'discarded'"))
                .isEqualTo("2000");
        assertThat(rows()).singleElement().asString().endsWith("|discard|all|2000");
    }

    @Test
    void tablesOfAnEarlierVersionCanBeOperatedOn() throws SQLException {
        execute("drop table outbox_resend, outbox_paused, outbox_action");
        assertThat(run("parked", "retry", "1")).isEqualToIgnoringNewLines("1 retried");
        assertThat(run("pause")).contains("is paused");
        assertThat(run("resume")).contains("is resumed");
        assertThat(run("actions")).isEqualToIgnoringNewLines("0 changes in the last 30 days");
        assertThat(run("actions", "--json")).isEqualToIgnoringNewLines("{\"actions\":[]}");
        ActionLog table = new ActionLog(commands.owner(), OutboxDatabaseFixture.SCHEMA.actions(), "relay");
        table.removeOld();
    }

    @Test
    void rowsAreRemovedAfterThirtyDays() throws SQLException {
        execute(
                "insert into outbox_action (relay, at, who, via, action) select r, now() - n * interval '1 day',"
                        + " 'operator', 'http', 'pause ' || n from generate_series(29, 1131) n, (values ('relay'), ('other')) v(r)");
        ActionLog table = new ActionLog(commands.owner(), OutboxDatabaseFixture.SCHEMA.actions(), "relay");
        table.removeOld();
        assertThat(query("select count(*) from outbox_action where relay = 'relay'"))
                .isEqualTo("103");
        table.removeOld();
        assertThat(query("select string_agg(action, ',') from outbox_action where relay = 'relay'"))
                .isEqualTo("pause 29");
        assertThat(query("select count(*) from outbox_action where relay = 'other'"))
                .isEqualTo("1103");
    }

    private List<String> rows() throws SQLException {
        String all = query("select string_agg(concat_ws('|', who, via, action, coalesce(selection, 'null'),"
                + " coalesce(events::text, 'null')), chr(10) order by number) from outbox_action");
        return all == null ? List.of() : all.lines().toList();
    }

    private void execute(String sql) throws SQLException {
        commands.execute(sql);
    }

    private String query(String sql) throws SQLException {
        return commands.query(sql);
    }

    private String run(String... arguments) {
        return execute(ExitCode.OK, arguments);
    }

    private String execute(ExitCode expected, String... arguments) {
        return commands.run(expected, List.of(arguments));
    }
}
