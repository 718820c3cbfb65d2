package dev.twinbox.inbox.cli;

import dev.twinbox.console.actions.SelectionText;
import dev.twinbox.console.operator.JsonText;
import dev.twinbox.inbox.jdbc.HandOver;
import dev.twinbox.inbox.jdbc.HandlerTable;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code twinbox-inbox-cli.jar parked hand-over}: for events of a handler that was renamed. */
@Command(
        name = "hand-over",
        mixinStandardHelpOptions = true,
        description = {
            "Gives the parked events of a handler to another name, for example after the handler was renamed.",
            "They are tried again at once, in order of their keys."
        })
final class HandOverCommand extends OnTables {

    @Option(names = "--from", required = true, paramLabel = "NAME", description = "Name under which they are parked.")
    private String from;

    @Option(names = "--to", required = true, paramLabel = "NAME", description = "Name of a handler that is running.")
    private String to;

    @Option(
            names = "--group",
            description =
                    "Value of twinbox.inbox.group; may be left out if only one group has a handler of the new name.")
    private @Nullable String group;

    @Option(names = "--dry-run", description = "Only shows how many they are.")
    private boolean isDryRun;

    @Override
    void check() {
        if (from.equals(to)) {
            throw new IllegalArgumentException("--from and --to are both \"" + from + "\": name two handlers");
        }
    }

    @Override
    int run(Connection connection, Tables at, PrintWriter out) throws SQLException {
        String ofGroup = groupOf(HandlerTable.of(at.inbox()).list(connection, group));
        HandOver handOver = new HandOver(at.inbox());
        HandOver.Result result = isDryRun
                ? handOver.count(connection, ofGroup, from, to)
                : actions(connection)
                        .inTransaction(
                                "hand-over",
                                new SelectionText()
                                        .with("group", ofGroup)
                                        .with("from", from)
                                        .with("to", to),
                                HandOver.Result::moved,
                                () -> handOver.move(connection, ofGroup, from, to));
        if (isJson()) {
            out.println(new JsonText()
                    .with("handedOver", result.moved())
                    .with("left", result.left())
                    .with("dryRun", isDryRun)
                    .build());
            return CommandLine.ExitCode.OK;
        }
        out.println(result.moved() + (isDryRun ? " would be" : "") + " handed over from " + from + " to " + to);
        if (result.left() > 0) {
            out.println(result.left() + " stay with " + from + ": " + to + " does not take their topic and type");
        }
        return CommandLine.ExitCode.OK;
    }

    /** A name that is misspelt would otherwise be one more name that nobody has. */
    private String groupOf(List<HandlerTable.Row> all) {
        List<HandlerTable.Row> there =
                all.stream().filter(HandlerTable.Row::isThere).toList();
        List<String> groups = there.stream()
                .filter(row -> row.handler().handler().equals(to))
                .map(HandlerTable.Row::group)
                .distinct()
                .toList();
        if (groups.isEmpty()) {
            Stream<String> names =
                    there.stream().map(row -> row.handler().handler()).distinct();
            throw new IllegalArgumentException("No running instance has a handler \"" + to + "\""
                    + (there.isEmpty()
                            ? ": start the application first"
                            : "; running handlers are " + String.join(", ", names.toList())));
        }
        if (groups.size() > 1) {
            throw new IllegalArgumentException(
                    "Several groups have a handler \"" + to + "\", say which by --group: " + String.join(", ", groups));
        }
        return groups.get(0);
    }
}
