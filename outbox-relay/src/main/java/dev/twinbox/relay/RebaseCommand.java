package dev.twinbox.relay;

import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.config.RelayException;
import dev.twinbox.relay.jdbc.OutboxDatabase;
import dev.twinbox.relay.jdbc.Rebase;
import dev.twinbox.relay.jdbc.StartCheck;
import dev.twinbox.relay.log.Logging;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Makes a restored outbox continue in its new cluster. */
@Command(
        name = "rebase",
        description =
                "After a restore into another PostgreSQL cluster: stamps what was not sent anew, so that it is sent in "
                        + "its order, and sets the position of each relay of this outbox. Needs the owner of the tables. Best done "
                        + "before applications write again; they wait while it runs.")
final class RebaseCommand implements Callable<Integer> {
    @Mixin
    private ConfigurationOption configuration;

    @Option(names = "--dry-run", description = "Only tells what would be done.")
    private boolean dryRun;

    @Option(
            names = "--after-pg-upgrade",
            description = "The cluster was made by pg_upgrade, in which transaction ids go on: changes nothing but the "
                    + "identifier of the cluster.")
    private boolean afterUpgrade;

    @Option(
            names = "--from-position",
            description = "For exactly-once publication that Kafka's answer keeps from going on: the relay of this "
                    + "configuration goes on from its position in the database, and what Kafka has beyond it is published "
                    + "once more. Changes no event. Not after a restore into another cluster.")
    private boolean fromPosition;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        RelayConfig config = configuration.read();
        Logging.configure(config);
        try (Connection connection = OutboxDatabase.withoutTimeouts(config).connect()) {
            OutboxDatabase.Server server = OutboxDatabase.identify(connection);
            if (server.role() == OutboxDatabase.Role.STANDBY) {
                throw new RelayException(ExitCode.DATABASE, "a hot standby cannot be rebased: name the primary");
            }
            Rebase rebase = new Rebase(connection, config.tables());
            if (fromPosition) {
                say(
                        "positions kept as they are, Kafka's numbers are set anew for: ",
                        rebase.forgetKafka(server.systemIdentifier(), config.name()));
            } else if (afterUpgrade) {
                say(
                        "positions kept as they are, the cluster's identifier set for: ",
                        rebase.adopt(server.systemIdentifier()));
            } else {
                rebase(rebase, server.systemIdentifier());
            }
            return ExitCode.OK.number();
        } catch (SQLException e) {
            throw StartCheck.refusal(config, e);
        }
    }

    private void rebase(Rebase rebase, long systemIdentifier) throws SQLException {
        Rebase.Result result = dryRun ? rebase.preview(systemIdentifier) : rebase.run(systemIdentifier);
        say(dryRun ? "would set the positions of: " : "positions set of: ", result.relays());
        PrintWriter out = spec.commandLine().getOut();
        out.println("restored and already sent: " + result.sent());
        out.println("restored and not yet sent: " + result.unsent());
        out.println("written in this cluster:   " + result.here() + " (counted as not yet sent)");
        out.flush();
    }

    private void say(String what, List<String> relays) {
        PrintWriter out = spec.commandLine().getOut();
        out.println(what + (relays.isEmpty() ? "no relay has run on this outbox" : String.join(", ", relays)));
        out.flush();
    }
}
