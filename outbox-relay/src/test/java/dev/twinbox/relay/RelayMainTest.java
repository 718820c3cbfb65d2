package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.relay.config.ExitCode;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class RelayMainTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            ~~ | Missing required subcommand
            walk | walk
            run --conf x | --conf
            run extra | extra
            run --config | --config
            run --config a --config b | --config
            run --config /nowhere/relay.properties | /nowhere/relay.properties
            migrate --config . | is a folder
            status --all | --all
            --config x run | --config
            parked | Missing required subcommand
            parked resend | resend
            parked list | twinbox.relay.database.url is missing
            parked list 17 | 17
            parked list --group shipping | --group
            parked list --handler ship | --handler
            parked list --dry-run | --dry-run
            parked list --limit 0 | from 1 to 10000
            parked list --limit 10001 | from 1 to 10000
            parked list --limit many | many
            parked list --since P1Y | --since "P1Y" must be a time
            parked list --since -PT1H | --since "-PT1H" must be a time
            parked show | NUMBER
            parked show seven | seven
            parked show 1 2 | 2
            parked show 1 | twinbox.relay.database.url is missing
            parked retry | --all
            parked retry --dry-run --json | --all
            parked retry 1 two | two
            parked retry 1 --all | not both
            parked retry --all | twinbox.relay.database.url is missing
            parked discard | --all
            parked discard 1.5 | 1.5
            parked discard 1 --topic orders | not both
            parked discard --since yesterday | --since "yesterday" must be a time
            parked discard 1 2 --json | twinbox.relay.database.url is missing
            status --json | twinbox.relay.database.url is missing
            run | twinbox.relay.database.url is missing
            migrate | twinbox.relay.kafka.bootstrap.servers is missing
            """)
    void wrongArgumentsAreOneMessageAndExitCode2(String arguments, String expected) {
        int code = execute(arguments.isBlank() ? new String[0] : arguments.split(" "));

        assertThat(code).isEqualTo(ExitCode.USAGE.number());
        assertThat(err.toString()).startsWith("error: ").contains(expected).doesNotContain("\tat ", "Exception");
        assertThat(out.toString()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"--help", "run --help", "migrate --help", "status --help", "parked --help", "parked retry --help"})
    void helpIsThereForEachCommandAndListsTheExitCodes(String arguments) {
        assertThat(execute(arguments.split(" "))).isZero();
        assertThat(out.toString()).contains("Usage: twinbox-relay");
    }

    @Test
    void theHelpListsTheExitCodesAndTheVersionIsShown() {
        execute("--help");
        assertThat(out.toString()).contains("Exit codes:", "asked to stop, the relay did not end in time");

        assertThat(execute("--version")).isZero();
        assertThat(out.toString()).contains("twinbox-relay ");
    }

    @Test
    void aKeyThatBeginsWithAnAtSignIsNoFileWithArguments(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("arguments"), "one --all");
        execute("parked", "discard", "1", "--key", "@" + file);
        assertThat(err.toString()).contains("not both");
        execute("parked", "discard", "--key", "@" + file, "--nonsense");
        assertThat(err.toString()).contains("--nonsense").doesNotContain("--all");
        execute("parked", "discard", "@" + file);
        assertThat(err.toString()).contains("@" + file);
    }

    private int execute(String... arguments) {
        CommandLine line = RelayMain.commandLine();
        line.setOut(new PrintWriter(out, true));
        line.setErr(new PrintWriter(err, true));
        return line.execute(arguments);
    }
}
