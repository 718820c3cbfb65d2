package dev.twinbox.inbox.cli;

import dev.twinbox.SchemaException;
import dev.twinbox.inbox.console.PauseChange;
import dev.twinbox.inbox.console.PauseJson;
import dev.twinbox.inbox.console.PauseSelection;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Set;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code twinbox-inbox-cli.jar resume}: ends what {@link PauseCommand} began. */
@Command(
        name = "resume",
        mixinStandardHelpOptions = true,
        description =
                "Makes instances go on with a paused topic where they stopped, or call a paused handler again, first "
                        + "with what was parked for it, in order.")
final class ResumeCommand extends OnTables {

    @Mixin
    private PauseOptions options;

    @Override
    void check() {
        options.selection();
    }

    @Override
    int run(Connection connection, Tables at, PrintWriter out) throws SQLException {
        PauseChange change;
        try {
            change = new PauseChange(connection, at.inbox(), actions(connection));
        } catch (SchemaException e) {
            return tooOld(e);
        }
        PauseSelection which = options.selection();
        Set<String> topics = change.resumeTopics(which);
        Set<String> handlers = change.resumeHandlers(which);
        if (isJson()) {
            out.println(PauseJson.resumed(which, topics, handlers, change.warnings()));
            return CommandLine.ExitCode.OK;
        }
        which.topics().forEach(topic -> out.println("topic \"" + topic + "\" " + outcome(topics.contains(topic))));
        which.handlers().forEach(name -> out.println("handler \"" + name + "\" " + outcome(handlers.contains(name))));
        return CommandLine.ExitCode.OK;
    }

    private static String outcome(boolean wasPaused) {
        return wasPaused ? "is resumed" : "was not paused";
    }
}
