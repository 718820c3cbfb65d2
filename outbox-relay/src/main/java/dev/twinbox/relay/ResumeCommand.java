package dev.twinbox.relay;

import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.operator.OperatorActions;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Ends what {@link PauseCommand} began. */
@Command(name = "resume", description = "Makes a paused relay send again, from where it stopped.")
final class ResumeCommand implements Callable<Integer> {
    @Mixin
    private ConfigurationOption configuration;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        return configuration.onDatabase((connection, config) -> {
            boolean wasPaused =
                    OperatorActions.onCommandLine(config, connection).resume();
            spec.commandLine()
                    .getOut()
                    .println("relay \"" + config.name() + "\" " + (wasPaused ? "is resumed" : "was not paused"));
            return ExitCode.OK;
        });
    }
}
