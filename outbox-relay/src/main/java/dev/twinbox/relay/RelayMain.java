package dev.twinbox.relay;

import dev.twinbox.config.Secret;
import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelayException;
import dev.twinbox.relay.log.Logging;
import java.io.PrintWriter;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/** The relay's command line: {@code java -jar twinbox-relay.jar run|migrate|status|topics|events|parked|pause|resume|resend|actions|rebase}. */
@Command(
        name = "twinbox-relay",
        description = "Moves committed events of the outbox table to Kafka, in order.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        synopsisSubcommandLabel = "COMMAND",
        scope = CommandLine.ScopeType.INHERIT,
        subcommands = {
            RunCommand.class,
            MigrateCommand.class,
            StatusCommand.class,
            TopicsCommand.class,
            EventsCommand.class,
            ParkedCommand.class,
            PauseCommand.class,
            ResumeCommand.class,
            ResendCommand.class,
            ActionsCommand.class,
            RebaseCommand.class
        })
public final class RelayMain {

    private RelayMain() {}

    /** Exits with the code of an {@code ExitCode}; {@code --help} lists them. */
    public static void main(String[] args) {
        Logging.configure();
        try {
            ExtraJars.load();
        } catch (RelayException e) {
            System.err.println("error: " + e.getMessage());
            System.exit(e.exitCode().number());
        }
        System.exit(commandLine().execute(args));
    }

    static CommandLine commandLine() {
        CommandLine line = new CommandLine(new RelayMain());
        line.setExpandAtFiles(false); // A key that begins with @ is a key, and no file with arguments.
        line.getCommandSpec()
                .usageMessage()
                .exitCodeListHeading("%nExit codes:%n")
                .exitCodeList(Arrays.stream(ExitCode.values())
                        .collect(Collectors.toMap(
                                code -> Integer.toString(code.number()),
                                ExitCode::meaning,
                                (one, other) -> one,
                                LinkedHashMap::new)));
        line.setParameterExceptionHandler(RelayMain::refuseArguments);
        line.setExecutionExceptionHandler(RelayMain::explain);
        return line;
    }

    private static int refuseArguments(ParameterException refused, String[] args) {
        CommandLine command = refused.getCommandLine();
        PrintWriter err = command.getErr();
        err.println("error: " + refused.getMessage() + "; see twinbox-relay --help");
        err.flush();
        return ExitCode.USAGE.number();
    }

    /** What an operator can mend is told in words; a stack trace means that we did not foresee it. */
    private static int explain(Exception thrown, CommandLine command, ParseResult arguments) {
        PrintWriter err = command.getErr();
        ExitCode code = ExitCode.INTERNAL;
        if (thrown instanceof RelayException foreseen) {
            err.println("error: " + Secret.masked(String.valueOf(foreseen.getMessage())));
            code = foreseen.exitCode();
        } else {
            thrown.printStackTrace(err);
        }
        err.flush();
        return code.number();
    }
}
