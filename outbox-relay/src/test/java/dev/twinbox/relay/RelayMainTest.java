package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.relay.config.ExitCode;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
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
    @CsvSource({"--help", "run --help", "migrate --help", "status --help"})
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

    private int execute(String... arguments) {
        CommandLine line = RelayMain.commandLine();
        line.setOut(new PrintWriter(out, true));
        line.setErr(new PrintWriter(err, true));
        return line.execute(arguments);
    }
}
