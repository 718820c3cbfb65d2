package dev.twinbox.relay;

import dev.twinbox.console.Json;
import dev.twinbox.console.cli.ChangeOptions;
import dev.twinbox.console.cli.ListOptions;
import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.ParkedRows;
import dev.twinbox.relay.jdbc.ParkedSelection;
import dev.twinbox.relay.operator.OperatorActions;
import dev.twinbox.relay.operator.ParkedChange;
import dev.twinbox.relay.operator.ParkedJson;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/**
 * The parked events, for an operator. Works whether the relay runs or not, and never sends anything itself: the relay
 * that owns the lease acts within a second, or when it is started.
 */
@Command(
        name = "parked",
        description = "Lists the parked events, gives them back to the relay, or discards them. Only changes rows; "
                + "the running relay sends.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            ParkedCommand.ListParked.class,
            ParkedCommand.ShowParked.class,
            ParkedCommand.Retry.class,
            ParkedCommand.Discard.class
        })
final class ParkedCommand {
    @Mixin
    private ConfigurationOption configuration;

    /** What these commands have in common. */
    abstract static class OnRows implements Callable<Integer> {
        @ParentCommand
        private ParkedCommand parent;

        @Spec
        private CommandSpec spec;

        @Option(names = "--json", description = "Prints one JSON document.")
        private boolean isJson;

        @Override
        public Integer call() {
            try {
                check();
            } catch (IllegalArgumentException e) {
                throw new ParameterException(spec.commandLine(), e.getMessage(), e);
            }
            PrintWriter out = spec.commandLine().getOut();
            ConfigurationOption.Work work = (connection, config) -> {
                try {
                    run(connection, config, out);
                } finally {
                    out.flush();
                }
                return ExitCode.OK;
            };
            return isJson ? parent.configuration.onDatabaseForJson(work) : parent.configuration.onDatabase(work);
        }

        final boolean isJson() {
            return isJson;
        }

        /** @throws IllegalArgumentException if the arguments are wrong */
        void check() {}

        abstract void run(Connection connection, RelayConfig config, PrintWriter out) throws SQLException;

        static ParkedRows rows(Connection connection, RelayConfig config) {
            return new ParkedRows(connection, config.tables(), config.name());
        }
    }

    /** One line for each event. */
    @Command(
            name = "list",
            description = "Lists parked events, one a line. Those that wait for an earlier one of their key come last.")
    static final class ListParked extends OnRows {
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
        void run(Connection connection, RelayConfig config, PrintWriter out) throws SQLException {
            ParkedRows rows = rows(connection, config);
            ParkedSelection which = selection.read();
            List<ParkedRows.Line> lines = rows.list(which, options.limit());
            long more = lines.size() < options.limit() ? 0 : Math.max(0, rows.count(which) - lines.size());
            if (isJson()) {
                ListOptions.printJson(out, lines, line -> ParkedJson.line(line).build(), more);
            } else {
                ListOptions.print(out, ParkedText.COLUMNS, lines, ParkedText::line, more);
            }
        }
    }

    /** All that is known of one event. */
    @Command(name = "show", description = "Shows all that is known of a parked event except its payload.")
    static final class ShowParked extends OnRows {
        @Parameters(paramLabel = "NUMBER", description = "As listed.")
        private long number;

        @Override
        void run(Connection connection, RelayConfig config, PrintWriter out) throws SQLException {
            ParkedRows.Details event = rows(connection, config).show(number);
            if (isJson()) {
                out.println(
                        event == null
                                ? Json.createObjectBuilder().build()
                                : ParkedJson.details(event).build());
            } else if (event == null) {
                out.println("No parked event " + number);
            } else {
                ParkedText.page(event).forEach(out::println);
            }
        }
    }

    /** What changes several events. */
    abstract static class OnSelected extends OnRows {
        @Mixin
        private ChangeOptions options;

        @Mixin
        private Selection selection;

        private final ParkedChange change;

        OnSelected(ParkedChange change) {
            this.change = change;
        }

        @Override
        final void check() {
            selection.readRequired(options.numbers());
        }

        @Override
        final void run(Connection connection, RelayConfig config, PrintWriter out) throws SQLException {
            ParkedRows rows = rows(connection, config);
            ParkedSelection which = selection.readRequired(options.numbers());
            long number = options.isDryRun()
                    ? change.count(rows, which)
                    : OperatorActions.onCommandLine(config, connection).change(change, which);
            options.print(out, isJson(), change.past(), number);
            change.refuse(rows, which);
        }
    }

    /** Gives events back to the relay. */
    @Command(
            name = "retry",
            description =
                    "Gives refused and waiting events back to the relay; later ones of their keys follow in order.")
    static final class Retry extends OnSelected {
        Retry() {
            super(ParkedChange.RETRY);
        }
    }

    /** Drops events. */
    @Command(
            name = "discard",
            description = "Drops events for good; those that wait for them go on. What is being sent is left alone.")
    static final class Discard extends OnSelected {
        Discard() {
            super(ParkedChange.DISCARD);
        }
    }
}
