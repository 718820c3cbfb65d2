package dev.twinbox.inbox.cli;

import dev.twinbox.ParkedEvent;
import dev.twinbox.console.cli.ChangeOptions;
import dev.twinbox.console.cli.ListOptions;
import dev.twinbox.console.operator.JsonText;
import dev.twinbox.inbox.console.ParkedChange;
import dev.twinbox.inbox.console.ParkedJson;
import dev.twinbox.inbox.jdbc.ParkedRows;
import dev.twinbox.inbox.jdbc.ParkedSelection;
import dev.twinbox.inbox.jdbc.SelectedRows;
import jakarta.json.JsonObject;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Parked events: the commands change rows, the running application acts on them. */
@Command(
        name = "parked",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "COMMAND",
        description = "Shows events that could not be handled; has them tried again, handed over, or given up.",
        subcommands = {
            ParkedCommand.ListParked.class,
            ParkedCommand.ShowParked.class,
            ParkedCommand.Retry.class,
            ParkedCommand.Discard.class,
            HandOverCommand.class
        })
final class ParkedCommand implements Runnable {

    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        throw new CommandLine.ParameterException(
                spec.commandLine(), "Missing command: list, show, retry, discard or hand-over");
    }

    /** One line for each event. */
    @Command(name = "list", mixinStandardHelpOptions = true, description = "Lists parked events, one a line.")
    static final class ListParked extends OnTables {

        @Mixin
        private Selection selection;

        @Mixin
        private ListOptions options;

        @Override
        void check() {
            options.check();
            selection.read();
        }

        @Override
        int run(Connection connection, Tables at, PrintWriter out) throws SQLException {
            SelectedRows rows = new SelectedRows(at.inbox());
            ParkedSelection which = selection.read();
            List<ParkedEvent> events = rows.list(connection, which, options.limit());
            long more =
                    events.size() < options.limit() ? 0 : Math.max(0, rows.count(connection, which) - events.size());
            if (isJson()) {
                ListOptions.printJson(
                        out, events, event -> ParkedJson.line(event).build(), more);
            } else {
                ListOptions.print(out, ParkedText.COLUMNS, events, ParkedText::line, more);
            }
            return CommandLine.ExitCode.OK;
        }
    }

    /** All that is known of one event. */
    @Command(
            name = "show",
            mixinStandardHelpOptions = true,
            description = "Shows all that is known of a parked event; bytes that are not UTF-8 in hexadecimal digits.")
    static final class ShowParked extends OnTables {

        @Parameters(paramLabel = "NUMBER", description = "As listed.")
        private long number;

        @Override
        int run(Connection connection, Tables at, PrintWriter out) throws SQLException {
            Optional<ParkedEvent> event = new ParkedRows(at.inbox(), at.parked()).find(connection, number);
            if (event.isEmpty()) {
                out.println(isJson() ? new JsonText().build() : "No parked event " + number);
                return CommandLine.ExitCode.SOFTWARE;
            }
            if (isJson()) {
                out.println(json(event.get()));
            } else {
                ParkedText.page(event.get()).forEach(out::println);
            }
            return CommandLine.ExitCode.OK;
        }
    }

    private static JsonObject json(ParkedEvent event) {
        byte[] value = event.value();
        return ParkedJson.details(event)
                .with("valueBytes", value == null ? null : value.length)
                .with("value", ParkedJson.text(value))
                .build();
    }

    /** What changes several events. */
    abstract static class OnSelected extends OnTables {

        @Mixin
        private ChangeOptions options;

        @Mixin
        private Selection selection;

        @Spec
        private CommandSpec spec;

        private final ParkedChange change;

        OnSelected(ParkedChange change) {
            this.change = change;
        }

        @Override
        final void check() {
            selection.readRequired(options.numbers());
        }

        @Override
        final int run(Connection connection, Tables at, PrintWriter out) throws SQLException {
            ParkedSelection which = selection.readRequired(options.numbers());
            change.warnings(connection, at.inbox(), which)
                    .forEach(spec.commandLine().getErr()::println);
            long number = options.isDryRun()
                    ? change.count(connection, new SelectedRows(at.inbox()), which)
                    : actions(connection).change(change, which);
            options.print(out, isJson(), change.past(), number);
            return CommandLine.ExitCode.OK;
        }
    }

    /** Has events tried again. */
    @Command(
            name = "retry",
            mixinStandardHelpOptions = true,
            description =
                    "Has events tried again at once by the running application; later ones of their keys follow in order.")
    static final class Retry extends OnSelected {
        Retry() {
            super(ParkedChange.RETRY);
        }
    }

    /** Gives events up. */
    @Command(
            name = "discard",
            mixinStandardHelpOptions = true,
            description = "Gives events up: they count as handled, and those behind them go on.")
    static final class Discard extends OnSelected {
        Discard() {
            super(ParkedChange.DISCARD);
        }
    }
}
