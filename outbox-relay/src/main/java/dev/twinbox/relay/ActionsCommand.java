package dev.twinbox.relay;

import dev.twinbox.console.actions.ActionLog;
import dev.twinbox.console.cli.ActionOptions;
import dev.twinbox.relay.config.ExitCode;
import java.io.PrintWriter;
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
    @Mixin
    private ConfigurationOption configuration;

    @Spec
    private CommandSpec spec;

    @Mixin
    private ActionOptions options;

    @Option(names = "--json", description = "Prints one JSON document.")
    private boolean isJson;

    @Override
    public Integer call() {
        try {
            options.check();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
        PrintWriter out = spec.commandLine().getOut();
        ConfigurationOption.Work work = (connection, config) -> {
            ActionLog log = new ActionLog(connection, config.tables().actions(), config.name());
            if (isJson) {
                options.printJson(log, out);
            } else {
                options.print(log, out);
            }
            return ExitCode.OK;
        };
        return isJson ? configuration.onDatabaseForJson(work) : configuration.onDatabase(work);
    }
}
