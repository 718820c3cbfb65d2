package dev.twinbox.inbox.cli;

import dev.twinbox.SchemaException;
import dev.twinbox.inbox.console.InboxDatabase;
import dev.twinbox.inbox.console.OperatorActions;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** What the commands that look at the tables have in common. Each statement is a transaction. */
abstract class OnTables implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Mixin
    private Tables tables;

    @Option(names = "--json", description = "Prints one JSON document.")
    private boolean isJson;

    @Override
    public Integer call() {
        PrintWriter err = spec.commandLine().getErr();
        try {
            check();
            try (Connection connection = tables.connect()) {
                return run(connection, tables, spec.commandLine().getOut());
            }
        } catch (IllegalArgumentException e) {
            err.println(e.getMessage());
            return CommandLine.ExitCode.USAGE;
        } catch (SQLException e) {
            err.println(InboxDatabase.explain(e, tables.inbox()));
            return CommandLine.ExitCode.SOFTWARE;
        }
    }

    final boolean isJson() {
        return isJson;
    }

    /** What is changed by them is recorded. If it cannot be, a line says so. */
    final OperatorActions actions(Connection connection) throws SQLException {
        OperatorActions actions = OperatorActions.onCommandLine(connection, tables.inbox());
        String warning = actions.warning();
        if (warning != null) {
            spec.commandLine().getErr().println(warning);
        }
        return actions;
    }

    /** Reports why it has failed. Returns the exit code. */
    final int failed(String message) {
        spec.commandLine().getErr().println(message);
        return CommandLine.ExitCode.SOFTWARE;
    }

    /** Reports that the tables are too old for the command. Returns its exit code. */
    final int tooOld(SchemaException problem) {
        return failed(String.valueOf(problem.getMessage()));
    }

    /** @throws IllegalArgumentException if the arguments are wrong */
    void check() {}

    abstract int run(Connection connection, Tables at, PrintWriter out) throws SQLException;
}
