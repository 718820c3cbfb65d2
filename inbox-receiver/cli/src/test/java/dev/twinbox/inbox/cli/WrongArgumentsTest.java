package dev.twinbox.inbox.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** One mistake at a time: the message names the place, the value and what would be right. */
class WrongArgumentsTest {

    @ParameterizedTest(name = "arguments: {0}")
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            ~~ | Missing command: migrate, status, parked, handlers, pause, resume, replay, forget, actions or console
            walk | walk
            migrate | --url
            migrate --url jdbc:mysql://localhost/shop | jdbc:mysql://localhost/shop
            migrate --url nowhere | nowhere
            migrate --url jdbc:postgresql://localhost/shop --tabel x | --tabel
            migrate --url jdbc:postgresql://localhost/shop --url jdbc:postgresql://localhost/shop | --url
            migrate --url jdbc:postgresql://localhost/shop extra | extra
            parked | Missing command: list, show, retry, discard or hand-over
            parked resend | resend
            parked list | --url
            parked list --url nowhere | nowhere
            parked show --url jdbc:postgresql://localhost/shop | NUMBER
            parked show --url jdbc:postgresql://localhost/shop seven | seven
            parked show --url jdbc:postgresql://localhost/shop 1 2 | 2
            parked retry --url jdbc:postgresql://localhost/shop | --all
            parked retry --url jdbc:postgresql://localhost/shop 1 two | two
            parked discard --url jdbc:postgresql://localhost/shop | --all
            parked discard --url jdbc:postgresql://localhost/shop 1.5 | 1.5
            parked retry --url jdbc:postgresql://localhost/shop 1 --all | not both
            parked discard --url jdbc:postgresql://localhost/shop 1 --topic orders | not both
            parked discard --url jdbc:postgresql://localhost/shop --since yesterday | --since "yesterday" must be a time
            parked list --url jdbc:postgresql://localhost/shop --since P1Y | --since "P1Y" must be a time
            parked list --url jdbc:postgresql://localhost/shop --since -PT1H | --since "-PT1H" must be a time
            parked list --url jdbc:postgresql://localhost/shop --limit 0 | from 1 to 10000
            parked list --url jdbc:postgresql://localhost/shop --limit 10001 | from 1 to 10000
            status | --url
            pause --topic orders | --url
            pause --url jdbc:postgresql://localhost/shop | give --topic or --handler
            pause --url jdbc:postgresql://localhost/shop --topic a/b | "a/b" has an illegal character
            pause --url jdbc:postgresql://localhost/shop orders | orders
            resume --url jdbc:postgresql://localhost/shop | give --topic or --handler
            replay | --url
            replay --url jdbc:postgresql://localhost/shop --topic orders | topic, handler and from are needed
            replay --url jdbc:postgresql://localhost/shop --topic o --handler h --from yesterday | give an offset, or a time
            replay --url jdbc:postgresql://localhost/shop --topic a/b --handler h --from oldest | "a/b" has an illegal
            replay --url jdbc:postgresql://localhost/shop --cancel 1 --topic orders | --cancel stands alone
            replay --url jdbc:postgresql://localhost/shop --topic o --handler h --from 1 --partition -1 | from 0 on
            actions | --url
            actions --url jdbc:postgresql://localhost/shop --limit 0 | from 1 to 1000
            console | --url
            console --url nowhere | nowhere
            console --url jdbc:postgresql://localhost/shop --config nowhere.properties | it does not exist
            forget --url jdbc:postgresql://localhost/shop | --handler
            forget --handler place | --url
            forget --url nowhere --handler place | nowhere
            forget --url jdbc:postgresql://localhost/shop --handler place --from yesterday | yesterday
            forget --url jdbc:postgresql://localhost/shop --handler place --to 2026-11-29 | 2026-11-29
            forget --url jdbc:postgresql://localhost/shop --handler place --sure | --sure
            """)
    void wrongArgumentsAreExitCode2AndNameWhatIsWrong(String arguments, String expected) {
        StringWriter err = new StringWriter();
        StringWriter out = new StringWriter();
        CommandLine line = new CommandLine(new InboxCli())
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true));

        assertThat(line.execute(arguments.isBlank() ? new String[0] : arguments.split(" ")))
                .isEqualTo(CommandLine.ExitCode.USAGE);
        assertThat(err.toString()).contains(expected).doesNotContain("\tat ");
        assertThat(out.toString()).isEmpty();
    }
}
