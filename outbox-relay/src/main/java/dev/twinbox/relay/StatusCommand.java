package dev.twinbox.relay;

import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.operator.StatusReport;
import jakarta.json.JsonObject;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Shows on one screen how the relay stands. */
@Command(
        name = "status",
        description =
                "Shows on one screen how the relay of this configuration stands, running or not. Changes nothing.")
final class StatusCommand implements Callable<Integer> {
    @Mixin
    private ConfigurationOption configuration;

    @Spec
    private CommandSpec spec;

    @Option(names = "--json", description = "Prints one JSON document.")
    private boolean isJson;

    @Override
    public Integer call() {
        ConfigurationOption.Work work = (connection, config) -> {
            JsonObject report = StatusReport.of(config, connection, this::line);
            if (isJson) {
                print(report.toString());
            }
            return ExitCode.OK;
        };
        return isJson ? configuration.onDatabaseForJson(work) : configuration.onDatabase(work);
    }

    /** Printed at once, so that a later failure hides nothing. */
    private void line(String label, String value) {
        if (!isJson) {
            print(String.format("%-15s %s", label, value));
        }
    }

    private void print(String line) {
        PrintWriter out = spec.commandLine().getOut();
        out.println(line);
        out.flush();
    }
}
