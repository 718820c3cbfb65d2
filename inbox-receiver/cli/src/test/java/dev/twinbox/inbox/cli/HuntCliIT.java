package dev.twinbox.inbox.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.inbox.jdbc.InboxSchema;
import dev.twinbox.jdbc.SqlIdentifier;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;
import picocli.CommandLine;

/** A hunt: attacks on the command line, by what a producer put into a record and by what an operator types. */
@Tag("proof")
class HuntCliIT {

    private static final String DATABASE = "hunt_cli";
    private static final String RED = "\u001b[31m";

    @BeforeAll
    static void park() throws Exception {
        Postgres.server().createDatabase(DATABASE);
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setUrl(Postgres.server().jdbcUrl(DATABASE));
        dataSource.setUser(Postgres.server().user());
        dataSource.setPassword(Postgres.server().password());
        new InboxSchema(new SqlIdentifier(null, "inbox_event")).migrate(dataSource);
        execute("""
                insert into inbox_parked (consumer_group, handler, event_id, event_type, claims, state, topic,
                                          partition, record_offset, record_key, record_value, header_names,
                                          header_values, attempts, error)
                select 'shipping', 'ship', 'e' || i || chr(27) || '[31m', 'type' || chr(27) || '[2J', true, 'dead',
                       'orders', 0, i, ('key' || chr(27) || ']0;title' || chr(7))::bytea, ('v' || chr(27) || '[31m')::bytea,
                       array[('h' || chr(27) || '[31m')::bytea], array[('w' || chr(27) || '[31m')::bytea], 20,
                       case i when 1 then '100% of a_b' || chr(27) || '[31m' else '100 of aXb' end
                  from generate_series(1, 2) i""");
    }

    private static void execute(String sql) throws Exception {
        try (var connection = Postgres.server().connect(DATABASE);
                var statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** 31. What a producer wrote does not control the operator's terminal. */
    @Test
    void noEscapeSequencesInLists() {
        assertThat(run("parked", "list", "--all").output()).doesNotContain("\u001b");
    }

    @Test
    void noEscapeSequencesInPages() {
        assertThat(run("parked", "show", "1").output()).doesNotContain("\u001b");
    }

    /** 32. A text is taken as it is, no pattern. */
    @Test
    void errorIsNoPattern() {
        assertThat(run("parked", "retry", "--error", "100%", "--dry-run").output())
                .isEqualTo("1 would be retried\n");
        assertThat(run("parked", "retry", "--error", "a_b", "--dry-run").output())
                .isEqualTo("1 would be retried\n");
        assertThat(run("parked", "retry", "--error", "%", "--dry-run").output()).isEqualTo("1 would be retried\n");
        assertThat(run("parked", "retry", "--error", "\\", "--dry-run").output())
                .isEqualTo("0 would be retried\n");
        assertThat(run("parked", "retry", "--key", "' or 1=1 --", "--dry-run").output())
                .isEqualTo("0 would be retried\n");
    }

    /** 33. Nothing is changed by a command that names nothing, or something wrong. */
    @Test
    void wrongArguments() {
        assertThat(run("parked", "discard").code()).isEqualTo(2);
        assertThat(run("parked", "discard", "--since", "P1M").code()).isEqualTo(2);
        assertThat(run("parked", "discard", "--since", "yesterday").code()).isEqualTo(2);
        assertThat(run("parked", "discard", "--handler", "").output()).doesNotContain("2 discarded");
        assertThat(run("parked", "discard", "1", "--all").code()).isEqualTo(2);
        assertThat(run("parked", "hand-over", "--from", "ship", "--to", "ship").code())
                .isEqualTo(2);
        assertThat(run("parked", "list").output()).contains("2 ").doesNotContain("0 parked");
        assertThat(run("handlers", "retire", "nobody").code()).isEqualTo(1);
    }

    private record Run(int code, String output) {}

    private static Run run(String... command) {
        List<String> arguments = new ArrayList<>(List.of(command));
        arguments.addAll(List.of(
                "--url",
                Postgres.server().jdbcUrl(DATABASE),
                "--user",
                Postgres.server().user(),
                "--password=" + Postgres.server().password()));
        StringWriter output = new StringWriter();
        PrintWriter out = new PrintWriter(output, true);
        int code = new CommandLine(new InboxCli()).setOut(out).setErr(out).execute(arguments.toArray(String[]::new));
        System.out.println("HUNT " + String.join(" ", command) + " -> " + code + " "
                + output.toString().replace("\u001b", "<ESC>").replace('\n', '|'));
        return new Run(code, output.toString());
    }
}
