package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Those who keep all SQL in migrations of their own had no way to get the relay's without running it. */
class Fault34PrintTest {

    private final StringWriter out = new StringWriter();

    @TempDir
    Path folder;

    @Test
    void migratePrintsTheSqlWithoutADatabase() throws Exception {
        assertThat(execute("migrate", "--print")).isZero();

        assertThat(out.toString())
                .startsWith("create schema if not exists \"shop\";")
                .contains("create table \"shop\".\"outbox_event\" (", "create table \"shop\".\"outbox_parked\" (")
                .contains("alter column slot set default 0::smallint")
                .doesNotContain("${");
    }

    @Test
    void whatIsThereIsLeftOut() throws Exception {
        assertThat(execute("migrate", "--print", "2")).isZero();

        assertThat(out.toString())
                .contains("create table \"shop\".\"outbox_scheduled\" (")
                .doesNotContain("create schema", "create table \"shop\".\"outbox_event\" (");
    }

    private int execute(String... arguments) throws Exception {
        Path file = Files.writeString(folder.resolve("relay.properties"), """
                twinbox.relay.database.url=jdbc:postgresql://127.0.0.1:1/nowhere
                twinbox.relay.kafka.bootstrap.servers=127.0.0.1:1
                twinbox.relay.retention=forever
                twinbox.outbox.schema=shop
                """);
        String[] all = java.util.Arrays.copyOf(arguments, arguments.length + 2);
        all[arguments.length] = "--config";
        all[arguments.length + 1] = file.toString();
        CommandLine line = RelayMain.commandLine();
        line.setOut(new PrintWriter(out, true));
        return line.execute(all);
    }
}
