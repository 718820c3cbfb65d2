package dev.twinbox.inbox.cli;

import dev.twinbox.ParkedEvent;
import dev.twinbox.inbox.jdbc.ParkedRows;
import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Parked events: the commands change rows, the running application acts on them. */
@Command(
        name = "parked",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "COMMAND",
        description = "Shows events that could not be handled; has them tried again, or gives them up.",
        subcommands = {
            ParkedCommand.ListParked.class,
            ParkedCommand.ShowParked.class,
            ParkedCommand.Retry.class,
            ParkedCommand.Discard.class
        })
final class ParkedCommand implements Runnable {

    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        throw new CommandLine.ParameterException(spec.commandLine(), "Missing command: list, show, retry or discard");
    }

    /** What the commands about parked events have in common. */
    abstract static class OnParked implements Callable<Integer> {

        @Spec
        private CommandSpec spec;

        @Mixin
        private Tables tables;

        @Override
        public Integer call() {
            PrintWriter err = spec.commandLine().getErr();
            try (Connection connection = tables.dataSource().getConnection()) {
                ParkedRows parked = new ParkedRows(tables.inbox(), tables.parked());
                return run(connection, parked, spec.commandLine().getOut());
            } catch (IllegalArgumentException e) {
                err.println(e.getMessage());
                return CommandLine.ExitCode.USAGE;
            } catch (SQLException e) {
                err.println(
                        "Table " + tables.parked() + " cannot be used, check --url and --schema: " + e.getMessage());
                return CommandLine.ExitCode.SOFTWARE;
            }
        }

        /** Each statement is a transaction. */
        abstract int run(Connection connection, ParkedRows parked, PrintWriter out) throws SQLException;
    }

    /** One line for each event. */
    @Command(name = "list", mixinStandardHelpOptions = true, description = "Lists parked events, one a line.")
    static final class ListParked extends OnParked {

        private static final int PAGE = 100;

        @Option(names = "--group", description = "Consumer group; default: all of them.")
        private @Nullable String group;

        @Override
        int run(Connection connection, ParkedRows parked, PrintWriter out) throws SQLException {
            long after = 0;
            for (List<ParkedEvent> page = parked.list(connection, group, after, PAGE);
                    !page.isEmpty();
                    page = parked.list(connection, group, after, PAGE)) {
                page.forEach(event -> out.println(line(event)));
                out.flush();
                after = page.get(page.size() - 1).number();
            }
            return CommandLine.ExitCode.OK;
        }

        private static String line(ParkedEvent event) {
            String error = event.error();
            return event.number() + "\t" + event.state() + "\t" + event.group() + "\t"
                    + (event.handler() == null ? "-" : event.handler()) + "\t" + event.coordinates() + "\t"
                    + (event.eventId() == null ? "-" : event.eventId()) + "\t" + event.attempts() + " attempts\t"
                    + (error == null ? "-" : error.lines().findFirst().orElse(""));
        }
    }

    /** All that is known of one event. */
    @Command(
            name = "show",
            mixinStandardHelpOptions = true,
            description = "Shows all that is known of a parked event; bytes that are not UTF-8 in hexadecimal digits.")
    static final class ShowParked extends OnParked {

        @Parameters(paramLabel = "NUMBER", description = "As listed.")
        private long number;

        @Override
        int run(Connection connection, ParkedRows parked, PrintWriter out) throws SQLException {
            Optional<ParkedEvent> event = parked.find(connection, number);
            event.ifPresentOrElse(found -> print(found, out), () -> out.println("No parked event " + number));
            return event.isPresent() ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
        }

        private static void print(ParkedEvent event, PrintWriter out) {
            out.println("number:    " + event.number());
            out.println("state:     " + event.state());
            out.println("group:     " + event.group());
            out.println("handler:   " + event.handler());
            out.println("event id:  " + event.eventId());
            out.println("type:      " + event.eventType());
            out.println("record:    " + event.coordinates() + " of " + event.time());
            out.println("parked at: " + event.parkedAt());
            out.println("attempts:  " + event.attempts() + ", the last failed at " + event.failedAt());
            out.println("next try:  " + event.nextTryAt());
            out.println("error:     " + event.error());
            event.headers()
                    .forEach(header -> out.println("header:    " + header.name() + " = " + text(header.value())));
            out.println("key:       " + text(event.key()));
            out.println("value:     " + text(event.value()));
        }

        private static String text(byte @Nullable [] bytes) {
            if (bytes == null) {
                return "null";
            }
            try {
                return StandardCharsets.UTF_8
                        .newDecoder()
                        .decode(ByteBuffer.wrap(bytes))
                        .toString();
            } catch (CharacterCodingException e) {
                return "0x" + HexFormat.of().formatHex(bytes);
            }
        }
    }

    /** Has events tried again. */
    @Command(
            name = "retry",
            mixinStandardHelpOptions = true,
            description =
                    "Has events tried again at once by the running application; later ones of their keys follow in order.")
    static final class Retry extends OnParked {

        @Parameters(arity = "1..*", paramLabel = "NUMBER", description = "As listed.")
        private List<Long> numbers;

        @Override
        int run(Connection connection, ParkedRows parked, PrintWriter out) throws SQLException {
            for (long number : numbers) {
                out.println(number + (parked.retry(connection, number) ? " is due" : " needs nothing"));
            }
            return CommandLine.ExitCode.OK;
        }
    }

    /** Gives events up. */
    @Command(
            name = "discard",
            mixinStandardHelpOptions = true,
            description = "Gives events up: they count as handled, and those behind them go on.")
    static final class Discard extends OnParked {

        @Parameters(arity = "1..*", paramLabel = "NUMBER", description = "As listed.")
        private List<Long> numbers;

        @Override
        int run(Connection connection, ParkedRows parked, PrintWriter out) throws SQLException {
            for (long number : numbers) {
                ParkedRows.Discarded discarded = parked.discard(connection, number);
                if (discarded.key() != null) {
                    parked.promote(connection, discarded.key());
                }
                out.println(number + (discarded.isDone() ? " is discarded" : " is not there"));
            }
            return CommandLine.ExitCode.OK;
        }
    }
}
