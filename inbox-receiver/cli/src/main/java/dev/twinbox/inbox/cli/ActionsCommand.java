package dev.twinbox.inbox.cli;

import dev.twinbox.console.actions.ActionLog;
import dev.twinbox.console.cli.ActionOptions;
import dev.twinbox.inbox.console.OperatorActions;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code twinbox-inbox-cli.jar actions}: the action log. */
@Command(
        name = "actions",
        mixinStandardHelpOptions = true,
        description = "Lists what operators have changed in the last 30 days, newest first: by these commands and over "
                + "HTTP.")
final class ActionsCommand extends OnTables {

    @Mixin
    private ActionOptions options;

    @Override
    void check() {
        options.check();
    }

    @Override
    int run(Connection connection, Tables at, PrintWriter out) throws SQLException {
        ActionLog log = OperatorActions.log(connection, at.inbox());
        if (isJson()) {
            options.printJson(log, out);
        } else {
            options.print(log, out);
        }
        return CommandLine.ExitCode.OK;
    }
}
