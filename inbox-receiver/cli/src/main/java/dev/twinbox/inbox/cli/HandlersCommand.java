package dev.twinbox.inbox.cli;

import dev.twinbox.console.actions.SelectionText;
import dev.twinbox.console.operator.JsonText;
import dev.twinbox.inbox.console.HandlerJson;
import dev.twinbox.inbox.jdbc.HandlerTable;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code twinbox-inbox-cli.jar handlers}: what the instances of an application have announced. */
@Command(
        name = "handlers",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "COMMAND",
        description = "Shows the handlers that instances have announced; retires one that will not come back.",
        subcommands = {HandlersCommand.ListHandlers.class, HandlersCommand.Retire.class})
final class HandlersCommand implements Runnable {

    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        throw new CommandLine.ParameterException(spec.commandLine(), "Missing command: list or retire");
    }

    /** One line for each handler and type. */
    @Command(
            name = "list",
            mixinStandardHelpOptions = true,
            description = "Lists handlers by group, topic and type, and whether a running instance has them.")
    static final class ListHandlers extends OnTables {

        @Option(names = "--group", description = "Only this consumer group.")
        private @Nullable String group;

        @Override
        int run(Connection connection, Tables at, PrintWriter out) throws SQLException {
            List<HandlerTable.Row> rows = HandlerTable.of(at.inbox()).list(connection, group);
            if (isJson()) {
                out.println(new JsonText()
                        .with("handlers", rows.stream().map(HandlerJson::of).toList())
                        .build());
                return CommandLine.ExitCode.OK;
            }
            out.println(rows.isEmpty() ? "0 handlers" : "GROUP\tTOPIC\tTYPE\tHANDLER\tDELIVERY\tRUNNING\tSEEN");
            rows.forEach(row -> out.println(String.join(
                    "\t",
                    row.group(),
                    row.handler().topic(),
                    row.handler().type(),
                    row.handler().handler(),
                    HandlerJson.delivery(row),
                    row.isThere() ? "yes" : "no",
                    row.seenAt().toString())));
            return CommandLine.ExitCode.OK;
        }
    }

    /** Events of its types are no longer parked for it. */
    @Command(
            name = "retire",
            mixinStandardHelpOptions = true,
            description = {
                "Removes a handler that will not come back. Other instances no longer park events for it.",
                "A running instance announces its handlers again: stop it first. What is parked stays; see parked."
            })
    static final class Retire extends OnTables {

        @Parameters(paramLabel = "HANDLER", description = "Name of the handler.")
        private String handler;

        @Option(names = "--group", description = "Only of this consumer group.")
        private @Nullable String group;

        @Option(names = "--topic", description = "Only for this topic.")
        private @Nullable String topic;

        @Option(names = "--type", description = "Only for this type of event.")
        private @Nullable String type;

        @Override
        int run(Connection connection, Tables at, PrintWriter out) throws SQLException {
            HandlerTable table = HandlerTable.of(at.inbox());
            boolean isThere = table.list(connection, group).stream().anyMatch(row -> row.isThere() && isMeant(row));
            SelectionText selection = new SelectionText()
                    .with("handler", handler)
                    .with("group", group)
                    .with("topic", topic)
                    .with("type", type);
            int retired = actions(connection)
                    .inTransaction(
                            "retire",
                            selection,
                            Integer::longValue,
                            () -> table.retire(connection, handler, group, topic, type));
            if (isJson()) {
                out.println(new JsonText()
                        .with("retired", retired)
                        .with("running", isThere)
                        .build());
            } else {
                out.println(retired + " retired");
                if (isThere) {
                    out.println("A running instance has handler " + handler
                            + " and announces it again: stop that instance, then retire the handler again");
                }
            }
            return retired == 0 ? CommandLine.ExitCode.SOFTWARE : CommandLine.ExitCode.OK;
        }

        private boolean isMeant(HandlerTable.Row row) {
            return row.handler().handler().equals(handler)
                    && (topic == null || row.handler().topic().equals(topic))
                    && (type == null || row.handler().type().equals(type));
        }
    }
}
