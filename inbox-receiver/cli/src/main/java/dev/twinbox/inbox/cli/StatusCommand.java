package dev.twinbox.inbox.cli;

import dev.twinbox.console.cli.TextLine;
import dev.twinbox.inbox.console.TableStatus;
import dev.twinbox.inbox.jdbc.PausedTable.Kind;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** {@code twinbox-inbox-cli.jar status}: how the tables stand, whether the application runs or not. */
@Command(
        name = "status",
        mixinStandardHelpOptions = true,
        description =
                "Shows the version of the tables, what is parked and paused, and about how many rows the inbox has.")
final class StatusCommand extends OnTables {

    @Override
    int run(Connection connection, Tables at, PrintWriter out) throws SQLException {
        TableStatus status = TableStatus.of(connection, at.inbox());
        if (isJson()) {
            out.println(status.json().build());
            return CommandLine.ExitCode.OK;
        }
        out.println("schema version:  " + status.version());
        out.println("inbox rows:      " + (status.estimate() == null ? "unknown" : "about " + status.estimate()));
        out.println("oldest parked:   " + TextLine.orDash(status.oldest()));
        status.groups()
                .forEach(
                        group -> out.println("parked:          " + group.number() + ' ' + group.state() + " of handler "
                                + (group.handler().isEmpty() ? "-" : group.handler()) + " in group " + group.group()));
        if (status.groups().isEmpty()) {
            out.println("parked:          0");
        }
        status.paused()
                .forEach(row -> out.println((row.kind() == Kind.TOPIC ? "paused topic:    " : "paused handler:  ")
                        + row.name() + " of group " + row.group() + " since " + row.since()));
        status.unowned()
                .forEach(events -> out.println("nobody takes:    " + events.number() + " of handler " + events.handler()
                        + " for type " + events.type() + " in group " + events.group()
                        + ", see parked hand-over"));
        return CommandLine.ExitCode.OK;
    }
}
