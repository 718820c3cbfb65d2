package dev.twinbox.inbox.cli;

import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Command line of the receiver: {@code java -jar twinbox-inbox-cli.jar migrate|status|parked|handlers|pause|resume|replay|forget|actions|console …}. */
@Command(
        name = "twinbox-inbox-cli",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "COMMAND",
        description = "Looks after the inbox tables of a receiving application.",
        subcommands = {
            MigrateCommand.class,
            StatusCommand.class,
            ParkedCommand.class,
            HandlersCommand.class,
            PauseCommand.class,
            ResumeCommand.class,
            ReplayCommand.class,
            ForgetCommand.class,
            ActionsCommand.class,
            ConsoleCommand.class
        })
public final class InboxCli implements Runnable {

    @Spec
    private CommandSpec spec;

    /** Held: a logger that nobody holds forgets its level. */
    private static final List<Logger> LIBRARIES = Stream.of("org.flywaydb", "org.eclipse.jetty")
            .map(Logger::getLogger)
            .toList();

    /** Its client reports a broker that is away again and again; an answer says it once. */
    private static final Logger KAFKA = Logger.getLogger("org.apache.kafka");

    public static void main(String[] arguments) {
        LIBRARIES.forEach(each -> each.setLevel(Level.WARNING));
        KAFKA.setLevel(Level.OFF);
        System.exit(execute(arguments));
    }

    /** Returns the exit code: 0 done, 1 failed, 2 wrong arguments. */
    static int execute(String... arguments) {
        // A key that begins with @ is a key, and no file with arguments.
        return new CommandLine(new InboxCli()).setExpandAtFiles(false).execute(arguments);
    }

    @Override
    public void run() {
        throw new CommandLine.ParameterException(
                spec.commandLine(),
                "Missing command: migrate, status, parked, handlers, pause, resume, replay, forget, actions or console");
    }
}
