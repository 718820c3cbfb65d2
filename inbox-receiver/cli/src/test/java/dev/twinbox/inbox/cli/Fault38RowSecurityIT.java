package dev.twinbox.inbox.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** The command line counted the parked rows that row-level security let it see, as if they were all. */
class Fault38RowSecurityIT {

    @Test
    void aCommandThatDoesNotSeeAllRowsFailsInsteadOfCountingSome() throws Exception {
        Postgres.server().createDatabase("fault38_cli");
        try (var connection = Postgres.server().connect("fault38_cli");
                var statement = connection.createStatement()) {
            assertThat(run("migrate", Postgres.server().user())).contains("applied");
            statement.execute("create role fault38_cli login password '" + Postgres.server().password() + "'");
            statement.execute("grant select on all tables in schema public to fault38_cli");
            assertThat(run("status", "fault38_cli")).contains("parked:          0");
            statement.execute("alter table inbox_parked enable row level security");
            assertThat(run("status", "fault38_cli")).contains("row-level security").doesNotContain("parked:          0");
        }
    }

    private static String run(String command, String user) {
        StringWriter printed = new StringWriter();
        PrintWriter both = new PrintWriter(printed, true);
        new CommandLine(new InboxCli())
                .setOut(both)
                .setErr(both)
                .execute(
                        command,
                        "--url",
                        Postgres.server().jdbcUrl("fault38_cli"),
                        "--user",
                        user,
                        "--password=" + Postgres.server().password());
        return printed.toString();
    }
}
