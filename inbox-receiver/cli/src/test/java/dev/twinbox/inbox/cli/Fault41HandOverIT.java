package dev.twinbox.inbox.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.inbox.jdbc.InboxSchema;
import dev.twinbox.jdbc.SqlIdentifier;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;
import picocli.CommandLine;

/**
 * Fault 41: a handler was renamed while events of the old name were parked. The command line said that they were retried,
 * and nothing happened. Fault 44: a handler that will not come back is retired by a command.
 */
class Fault41HandOverIT {

    private static final String DATABASE = "fault41_cli";

    @Test
    void nobodyHasTheOldNameIsSaidAndTheEventsAreHandedToTheNewOne() throws Exception {
        Postgres.server().createDatabase(DATABASE);
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setUrl(Postgres.server().jdbcUrl(DATABASE));
        dataSource.setUser(Postgres.server().user());
        dataSource.setPassword(Postgres.server().password());
        new InboxSchema(new SqlIdentifier(null, "inbox_event")).migrate(dataSource);
        try (var connection = Postgres.server().connect(DATABASE);
                var statement = connection.createStatement()) {
            statement.execute("""
                    insert into inbox_parked (consumer_group, handler, event_id, event_type, claims, state, topic,
                                              partition, record_offset, record_key, header_names, header_values,
                                              attempts)
                    select 'shipping', 'old', 'e' || i, 'order', true, case i when 1 then 'dead' else 'behind' end,
                           'orders', 0, i, 'key'::bytea, '{}', '{}', 20
                      from generate_series(1, 3) i""");
            statement.execute("""
                    insert into inbox_handler (consumer_group, topic, event_type, handler, delivery, seen_at)
                    values ('shipping', 'orders', 'order', 'new', 'exactly_once_effect', clock_timestamp()),
                           ('shipping', 'orders', 'order', 'old', 'exactly_once_effect', timestamptz '2026-01-01')""");

            assertThat(run("status")).contains("nobody takes:    3 of handler old for type order in group shipping");
            assertThat(run("parked", "retry", "--handler", "old"))
                    .contains("No running instance has handler old for type order")
                    .contains("parked hand-over --from old --to <new name>");
            assertThat(run("parked", "hand-over", "--from", "old", "--to", "nwe"))
                    .contains("No running instance has a handler \"nwe\"; running handlers are new");
            assertThat(run("parked", "hand-over", "--from", "old", "--to", "new", "--dry-run"))
                    .isEqualTo("3 would be handed over from old to new\n");
            assertThat(run("parked", "hand-over", "--from", "old", "--to", "new"))
                    .isEqualTo("3 handed over from old to new\n");
            try (var rows = statement.executeQuery(
                    "select string_agg(handler || event_id || state, ' ' order by number) from inbox_parked")) {
                rows.next();
                assertThat(rows.getString(1)).isEqualTo("newe1retry newe2behind newe3behind");
            }
            assertThat(run("handlers", "list"))
                    .contains("shipping\torders\torder\tnew\texactly_once_effect\tyes\t")
                    .contains("shipping\torders\torder\told\texactly_once_effect\tno\t");
            assertThat(run("handlers", "retire", "old")).isEqualTo("1 retired\n");
            assertThat(run("handlers", "retire", "old")).isEqualTo("0 retired\n");
            assertThat(run("handlers", "retire", "new")).contains("1 retired\n", "stop that instance");
        }
    }

    private static String run(String... command) {
        List<String> arguments = new ArrayList<>(List.of(command));
        arguments.addAll(List.of(
                "--url",
                Postgres.server().jdbcUrl(DATABASE),
                "--user",
                Postgres.server().user(),
                "--password=" + Postgres.server().password()));
        StringWriter output = new StringWriter();
        PrintWriter out = new PrintWriter(output, true);
        new CommandLine(new InboxCli()).setOut(out).setErr(out).execute(arguments.toArray(String[]::new));
        return output.toString();
    }
}
