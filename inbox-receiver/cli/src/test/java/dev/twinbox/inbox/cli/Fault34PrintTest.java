package dev.twinbox.inbox.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** Those who keep all SQL in migrations of their own had no way to get the inbox's without running it. */
class Fault34PrintTest {

    private final StringWriter out = new StringWriter();

    @Test
    void migratePrintsTheSqlWithoutADatabase() {
        assertThat(execute("migrate", "--print", "--schema", "Sales-EU 1", "--table", "In\"Box"))
                .isZero();

        assertThat(out.toString())
                .startsWith("create schema if not exists \"Sales-EU 1\";")
                .contains("create table \"Sales-EU 1\".\"In\"\"Box\" (")
                .doesNotContain("${");
    }

    @Test
    void whatIsThereIsLeftOut() {
        assertThat(execute("migrate", "--print", "1")).isZero();

        assertThat(out.toString())
                .contains("create table \"inbox_parked\" (")
                .doesNotContain("create schema", "create table \"inbox_event\" (");
    }

    private int execute(String... arguments) {
        return new CommandLine(new InboxCli()).setOut(new PrintWriter(out, true)).execute(arguments);
    }
}
