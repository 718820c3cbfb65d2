package dev.twinbox.relay;

import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelayException;
import dev.twinbox.relay.jdbc.ParkedRows;
import dev.twinbox.relay.jdbc.ParkedState;
import java.io.PrintWriter;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * The events that were set aside, for a person. Works whether the relay runs or not, and never sends anything itself: the
 * relay that owns the lease does as told within a second, or when it is started.
 */
@Command(
        name = "parked",
        description =
                "Lists the events that were set aside, gives them back to the relay, or drops them. Only changes rows; "
                        + "the running relay sends.",
        synopsisSubcommandLabel = "COMMAND")
final class ParkedCommand {
    @Mixin
    private ConfigurationOption configuration;

    @Spec
    private CommandSpec spec;

    private interface Work {
        ExitCode with(ParkedRows rows) throws SQLException;
    }

    /** Which events to give back. */
    static final class Which {
        @Option(names = "--all", required = true, description = "All refused and waiting events.")
        private boolean all;

        @Parameters(paramLabel = "NUMBER", description = "One event, as listed.")
        private @Nullable Long number;

        @ArgGroup(exclusive = false)
        private @Nullable OfTopic ofTopic;

        ParkedRows.Selection selection() {
            OfTopic chosen = ofTopic;
            if (all) {
                return new ParkedRows.Selection(null, null, null);
            }
            return chosen == null
                    ? new ParkedRows.Selection(number, null, null)
                    : new ParkedRows.Selection(null, chosen.topic, chosen.key);
        }
    }

    /** The events of a topic, or of one of its keys. */
    static final class OfTopic {
        @Option(names = "--topic", required = true, description = "All of this topic.")
        private String topic;

        @Option(names = "--key", description = "Of the topic only this key.")
        private @Nullable String key;
    }

    @Command(
            name = "list",
            description = "One line for each key, with the event it waits for, and for each event without.")
    int list(
            @Option(names = "--topic", description = "Of this topic only.") @Nullable String topic,
            @Option(names = "--limit", defaultValue = "100", description = "Most lines (${DEFAULT-VALUE}).")
                    int limit) {
        return withRows(rows -> {
            List<ParkedRows.Line> lines = rows.list(topic, limit);
            lines.forEach(this::print);
            if (lines.isEmpty()) {
                say("nothing is parked");
            } else if (lines.size() == limit) {
                say("... there may be more: --limit");
            }
            return ExitCode.OK;
        });
    }

    private void print(ParkedRows.Line line) {
        out().printf(
                        "%d %s topic \"%s\", key %s, event %s of type %s, attempts %d, since %s, behind it %s%n",
                        line.number(),
                        line.state().sql(),
                        line.topic(),
                        line.key() == null ? "null" : '"' + line.key() + '"',
                        line.id(),
                        line.type(),
                        line.attempts(),
                        line.since(),
                        line.behind() < ParkedRows.COUNTED ? line.behind() : "over " + (ParkedRows.COUNTED - 1));
        if (line.error() != null) {
            out().println("    " + line.error());
        }
        out().flush();
    }

    @Command(name = "show", description = "All there is about one event but its payload.")
    int show(@Parameters(paramLabel = "NUMBER", description = "As listed.") long number) {
        return withRows(rows -> {
            List<String[]> values = rows.show(number);
            values.forEach(value -> out().printf("%-15s %s%n", value[0], value[1]));
            out().flush();
            return values.isEmpty() ? notThere(number) : ExitCode.OK;
        });
    }

    @Command(
            name = "retry",
            description = "Gives refused and waiting events back to the relay; those behind them follow in order.")
    int retry(@ArgGroup(multiplicity = "1") Which which) {
        return withRows(rows -> {
            int given = rows.retry(which.selection());
            say(
                    given == 0
                            ? "nothing to do: no such event is refused or waiting"
                            : given + " event(s) given back to the relay, with those behind them");
            return ExitCode.OK;
        });
    }

    @Command(name = "discard", description = "Drops one event for good; those behind it in its key go on.")
    int discard(@Parameters(paramLabel = "NUMBER", description = "As listed.") long number) {
        return withRows(rows -> {
            if (rows.discard(number)) {
                say("event " + number + " is discarded");
                return ExitCode.OK;
            }
            ParkedState state = rows.state(number);
            if (state == ParkedState.SENDING) {
                throw new RelayException(
                        ExitCode.USAGE,
                        "event " + number + " is being sent: it is too late to discard it, let it arrive");
            }
            say("nothing to do: event " + number + " is " + (state == null ? "not parked" : "discarded already"));
            return ExitCode.OK;
        });
    }

    private ExitCode notThere(long number) {
        say("event " + number + " is not parked");
        return ExitCode.OK;
    }

    private int withRows(Work work) {
        return configuration.onDatabase(
                (connection, config) -> work.with(new ParkedRows(connection, config.tables(), config.name())));
    }

    private PrintWriter out() {
        return spec.commandLine().getOut();
    }

    private void say(String line) {
        out().println(line);
        out().flush();
    }
}
