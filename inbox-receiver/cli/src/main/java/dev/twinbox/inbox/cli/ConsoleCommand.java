package dev.twinbox.inbox.cli;

import dev.twinbox.console.config.ProcessConfig;
import dev.twinbox.inbox.console.ConsoleConfig;
import dev.twinbox.inbox.console.ConsoleServer;
import dev.twinbox.inbox.console.InboxDatabase;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code twinbox-inbox-cli.jar console}: serves operators over HTTP until SIGTERM. */
@Command(
        name = "console",
        mixinStandardHelpOptions = true,
        description = {
            "Serves status, parked events and where an event is over HTTP, until SIGTERM.",
            "Reads the inbox database and Kafka. The application opens no port for it."
        })
final class ConsoleCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Mixin
    private Tables tables;

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "Properties in UTF-8: twinbox.console.* and twinbox.inbox.kafka.*. Environment variables and "
                    + "system properties win over it.")
    private @Nullable Path file;

    @Override
    public Integer call() throws InterruptedException {
        PrintWriter err = spec.commandLine().getErr();
        PrintWriter out = spec.commandLine().getOut();
        try {
            ConsoleConfig config = ConsoleConfig.read(file, System.getenv(), ProcessConfig.systemProperties());
            tables.dataSource(); // so that a wrong URL is said at once
            InboxDatabase database = new InboxDatabase(tables.inbox(), tables::connectInTime);
            try (ConsoleServer server = new ConsoleServer(config, database)) {
                out.println("The console listens on " + config.address().url(server.port()) + ConsoleServer.PATH + "/");
                out.flush();
                new CountDownLatch(1).await(); // SIGTERM ends the process
            }
            return CommandLine.ExitCode.OK;
        } catch (IllegalArgumentException e) {
            err.println(e.getMessage());
            return CommandLine.ExitCode.USAGE;
        }
    }
}
