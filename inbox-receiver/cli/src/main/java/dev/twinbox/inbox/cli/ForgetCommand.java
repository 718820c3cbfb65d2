package dev.twinbox.inbox.cli;

import dev.twinbox.Handled;
import dev.twinbox.console.actions.SelectionText;
import dev.twinbox.inbox.console.OperatorActions;
import dev.twinbox.inbox.jdbc.InboxRows;
import dev.twinbox.inbox.jdbc.InboxRows.Forgotten;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code twinbox-inbox-cli.jar forget}: a replay on purpose. */
@Command(
        name = "forget",
        mixinStandardHelpOptions = true,
        description = {
            "Forgets that events were handled, so that they are applied again when they are delivered again.",
            "To have them delivered, stop the application, set its group's offsets back with kafka-consumer-groups, and start it."
        })
final class ForgetCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Mixin
    private Tables tables;

    @Option(
            names = "--group",
            description = "Value of twinbox.inbox.group; may be left out if only one group has a handler of this name.")
    private @Nullable String group;

    @Option(names = "--handler", required = true, description = "Name of the handler.")
    private String handler;

    @Option(
            names = "--from",
            paramLabel = "TIME",
            description = "Only events handled at this time or later, for example 2026-11-29T12:00:00Z.")
    private @Nullable OffsetDateTime from;

    @Option(names = "--to", paramLabel = "TIME", description = "Only events handled before this time.")
    private @Nullable OffsetDateTime to;

    @Option(
            names = "--ids",
            split = ",",
            paramLabel = "ID",
            description = "Only events of these ids, separated by commas; @FILE takes arguments from a file.")
    private @Nullable List<String> ids;

    @Option(
            names = "--source",
            paramLabel = "URI",
            description = "Only events of this CloudEvents source, and those that were stored without one.")
    private @Nullable String source;

    @Option(names = "--dry-run", description = "Only says how many they are.")
    private boolean dryRun;

    @Option(names = "--yes", description = "Does not ask.")
    private boolean yes;

    @Override
    public Integer call() {
        PrintWriter err = spec.commandLine().getErr();
        try (Connection connection = tables.connect()) {
            return run(connection, new InboxRows(tables.inbox()), handled());
        } catch (IllegalArgumentException e) {
            err.println(e.getMessage());
            return CommandLine.ExitCode.USAGE;
        } catch (SQLException e) {
            err.println("Table " + tables.inbox() + " cannot be used, check --url and --schema: " + e.getMessage());
            return CommandLine.ExitCode.SOFTWARE;
        }
    }

    private Handled handled() {
        return new Handled(handler, instant(from), instant(to), ids, source);
    }

    private static @Nullable Instant instant(@Nullable OffsetDateTime time) {
        return time == null ? null : time.toInstant();
    }

    private int run(Connection connection, InboxRows inbox, Handled which) throws SQLException {
        PrintWriter out = spec.commandLine().getOut();
        String ofGroup = groupOf(inbox.handlers(connection));
        long number = inbox.count(connection, ofGroup, which);
        String what = describe(number, ofGroup);
        if (number == 0 || dryRun) {
            out.println((number == 0 ? "Nothing to forget: " : "Would forget ") + what);
            return CommandLine.ExitCode.OK;
        }
        if (!yes && !isConfirmed(what, out)) {
            out.println("Nothing was forgotten.");
            return CommandLine.ExitCode.SOFTWARE;
        }
        out.println("Forgot " + describe(forget(connection, inbox, ofGroup, which), ofGroup));
        return CommandLine.ExitCode.OK;
    }

    /** Each batch is a transaction, with its part of the row in the action log. */
    private long forget(Connection connection, InboxRows inbox, String ofGroup, Handled which) throws SQLException {
        OperatorActions actions = OperatorActions.onCommandLine(connection, tables.inbox());
        if (actions.warning() != null) {
            spec.commandLine().getErr().println(actions.warning());
        }
        SelectionText selection = selection(ofGroup);
        long forgotten = 0;
        Forgotten batch = Forgotten.NONE;
        do {
            Forgotten last = batch;
            batch = actions.inTransaction(
                    "forget",
                    selection,
                    Forgotten::number,
                    () -> inbox.forget(connection, ofGroup, which, last, InboxRows.BATCH));
            forgotten += batch.number();
        } while (batch.number() == InboxRows.BATCH);
        return forgotten;
    }

    private SelectionText selection(String ofGroup) {
        return new SelectionText()
                .with("handler", handler)
                .with("group", ofGroup)
                .with("from", from)
                .with("to", to)
                .with("ids", ids == null ? null : String.join(",", ids))
                .with("source", source);
    }

    private String describe(long number, String ofGroup) {
        return number + " event(s) of handler " + handler + " in group " + ofGroup
                + (from == null ? "" : ", handled at " + from + " or later")
                + (to == null ? "" : (from == null ? ", handled before " : " and before ") + to)
                + (ids == null ? "" : ", of the " + ids.size() + " given")
                + (source == null ? "" : ", of source " + source);
    }

    /** A name that is misspelt would otherwise be a replay that does not happen. */
    private String groupOf(List<InboxRows.Name> known) {
        List<InboxRows.Name> found = known.stream()
                .filter(name -> name.handler().equals(handler))
                .filter(name -> group == null || name.group().equals(group))
                .toList();
        if (found.isEmpty()) {
            throw new IllegalArgumentException("No handler \"" + handler + "\""
                    + (group == null ? "" : " of group \"" + group + "\"") + " has events in " + tables.inbox()
                    + (known.isEmpty() ? ", which is empty: check --table" : "; there are " + list(known)));
        }
        if (found.size() > 1) {
            throw new IllegalArgumentException(
                    "Several groups have a handler \"" + handler + "\", say which by --group: " + list(found));
        }
        return found.get(0).group();
    }

    private static String list(List<InboxRows.Name> names) {
        return names.stream()
                .map(name -> name.handler() + " (group " + name.group() + ")")
                .collect(Collectors.joining(", "));
    }

    private static boolean isConfirmed(String what, PrintWriter out) {
        out.print("Forget " + what + "? They are applied again when they are delivered again. [y/N] ");
        out.flush();
        try {
            // Not closed: standard input is not ours.
            String answer = new BufferedReader(new InputStreamReader(System.in, Charset.defaultCharset())).readLine();
            return answer != null && answer.trim().equalsIgnoreCase("y");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
