package dev.twinbox.relay;

import dev.twinbox.console.cli.TextLine;
import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.jdbc.ActionTable;
import dev.twinbox.relay.operator.ActionJson;
import java.io.PrintWriter;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The action log. */
@Command(
        name = "actions",
        description = "Lists what operators have changed in the last 30 days, newest first: by these commands and over "
                + "HTTP.")
final class ActionsCommand implements Callable<Integer> {
    private static final String COLUMNS = "NUMBER\tAT\tWHO\tVIA\tACTION\tEVENTS\tSELECTION";
    private static final int MOST = 1_000;

    @Mixin
    private ConfigurationOption configuration;

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--limit",
            paramLabel = "N",
            defaultValue = "100",
            description = "Most lines, at most 1000; default: ${DEFAULT-VALUE}.")
    private int limit;

    @Option(names = "--json", description = "Prints one JSON document.")
    private boolean isJson;

    @Override
    public Integer call() {
        if (limit < 1 || limit > MOST) {
            throw new ParameterException(spec.commandLine(), "--limit " + limit + " must be from 1 to " + MOST);
        }
        ConfigurationOption.Work work = (connection, config) -> {
            print(new ActionTable(connection, config.tables(), config.name()));
            return ExitCode.OK;
        };
        return isJson ? configuration.onDatabaseForJson(work) : configuration.onDatabase(work);
    }

    private void print(ActionTable log) throws SQLException {
        PrintWriter out = spec.commandLine().getOut();
        if (isJson) {
            out.println(ActionJson.page(log, Long.MAX_VALUE, limit).build());
        } else {
            List<ActionTable.Line> lines = log.page(Long.MAX_VALUE, limit);
            out.println(lines.isEmpty() ? "0 changes in the last 30 days" : COLUMNS);
            lines.forEach(line -> out.println(text(line)));
        }
        out.flush();
    }

    private static String text(ActionTable.Line line) {
        ActionTable.Action action = line.action();
        return TextLine.of(
                line.number(),
                line.at(),
                action.who(),
                action.via(),
                action.action(),
                action.events(),
                action.selection());
    }
}
