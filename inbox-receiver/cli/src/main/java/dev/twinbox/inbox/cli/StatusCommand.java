package dev.twinbox.inbox.cli;

import dev.twinbox.console.operator.JsonText;
import dev.twinbox.inbox.jdbc.HandlerTable;
import dev.twinbox.inbox.jdbc.SelectedRows;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** {@code twinbox-inbox-cli.jar status}: how the tables stand, whether the application runs or not. */
@Command(
        name = "status",
        mixinStandardHelpOptions = true,
        description = "Shows the version of the tables, what is parked, and about how many rows the inbox has.")
final class StatusCommand extends OnTables {

    @Override
    int run(Connection connection, Tables at, PrintWriter out) throws SQLException {
        SelectedRows rows = new SelectedRows(at.inbox());
        String version = rows.version(connection);
        List<SelectedRows.Group> groups = rows.groups(connection);
        long estimate = rows.estimatedRows(connection);
        Optional<String> oldest =
                groups.stream().map(SelectedRows.Group::oldest).min(Comparator.naturalOrder());
        List<HandlerTable.Unowned> unowned = HandlerTable.of(at.inbox()).unowned(connection, null);
        if (isJson()) {
            out.println(new JsonText()
                    .with("version", version)
                    .with("inboxRows", estimate < 0 ? null : estimate)
                    .with("oldestParkedAt", oldest.orElse(null))
                    .with("parked", groups.stream().map(StatusCommand::json).toList())
                    .with("unowned", unowned.stream().map(StatusCommand::json).toList()).build());
            return CommandLine.ExitCode.OK;
        }
        out.println("schema version:  " + version);
        out.println("inbox rows:      " + (estimate < 0 ? "unknown" : "about " + estimate));
        out.println("oldest parked:   " + oldest.orElse("-"));
        groups.forEach(group -> out.println("parked:          " + group.number() + ' ' + group.state() + " of handler "
                + (group.handler().isEmpty() ? "-" : group.handler()) + " in group " + group.group()));
        if (groups.isEmpty()) {
            out.println("parked:          0");
        }
        unowned.forEach(events -> out.println("nobody takes:    " + events.number() + " of handler " + events.handler()
                + " for type " + events.type() + " in group " + events.group()
                + ", see parked hand-over"));
        return CommandLine.ExitCode.OK;
    }

    private static JsonText json(HandlerTable.Unowned events) {
        return new JsonText()
                .with("group", events.group())
                .with("handler", events.handler())
                .with("topic", events.topic())
                .with("type", events.type())
                .with("number", events.number())
                .with("seenAt", events.seenAt());
    }

    private static JsonText json(SelectedRows.Group group) {
        return new JsonText()
                .with("group", group.group())
                .with("handler", group.handler().isEmpty() ? null : group.handler())
                .with("state", group.state())
                .with("number", group.number())
                .with("oldestParkedAt", group.oldest());
    }
}
