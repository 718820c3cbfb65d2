package dev.twinbox.relay;

import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.jdbc.LeaseTable;
import dev.twinbox.relay.jdbc.OutboxDatabase;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Makes the relay send nothing until told otherwise. */
@Command(
        name = "pause",
        description =
                "Makes the relay of this configuration send nothing, whether it runs now or is started later, until "
                        + "\"resume\". It keeps its lease, and says so in its readiness and in \"status\".")
final class PauseCommand implements Callable<Integer> {
    @Mixin
    private ConfigurationOption configuration;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        return configuration.onDatabase((connection, config) -> {
            LeaseTable lease = new LeaseTable(connection, config.tables(), config.name());
            lease.pause(OutboxDatabase.identify(connection).systemIdentifier());
            spec.commandLine()
                    .getOut()
                    .println("relay \"" + config.name() + "\" is paused since " + lease.pausedSince()
                            + "; a running one stops within a second");
            return ExitCode.OK;
        });
    }
}
