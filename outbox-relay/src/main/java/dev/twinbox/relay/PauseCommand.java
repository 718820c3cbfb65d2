package dev.twinbox.relay;

import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelaySettings;
import dev.twinbox.relay.jdbc.LeaseTable;
import dev.twinbox.relay.operator.OperatorActions;
import java.sql.SQLException;
import java.util.List;
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

    /** A mistyped name would otherwise seem to be paused, while the right one sends. */
    private static String ifNew(LeaseTable lease) throws SQLException {
        LeaseTable.Seen seen = lease.look();
        if (seen == null || seen.taken()) {
            return "";
        }
        List<String> known = lease.names();
        return ". No relay of this name has run here yet: check " + RelaySettings.NAME.key() + ". Known names: "
                + (known.isEmpty() ? "none" : String.join(", ", known));
    }

    @Override
    public Integer call() {
        return configuration.onDatabase((connection, config) -> {
            LeaseTable lease = new LeaseTable(connection, config.tables(), config.name());
            OperatorActions.onCommandLine(config, connection).pause();
            spec.commandLine()
                    .getOut()
                    .println("relay \"" + config.name() + "\" is paused since " + lease.pausedSince()
                            + "; a running one stops within a second" + ifNew(lease));
            return ExitCode.OK;
        });
    }
}
