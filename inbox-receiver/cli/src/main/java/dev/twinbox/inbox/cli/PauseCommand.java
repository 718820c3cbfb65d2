package dev.twinbox.inbox.cli;

import dev.twinbox.SchemaException;
import dev.twinbox.inbox.console.PauseChange;
import dev.twinbox.inbox.console.PauseJson;
import dev.twinbox.inbox.jdbc.PausedTable;
import dev.twinbox.inbox.jdbc.PausedTable.Kind;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code twinbox-inbox-cli.jar pause}: no handler is called for a topic, or one handler for no event. */
@Command(
        name = "pause",
        mixinStandardHelpOptions = true,
        description = {
            "Makes running and later instances call no handler for a topic, or a handler for no event, until resume.",
            "Partitions of a paused topic are held. Events of a paused handler are parked in order, up to about 10,000."
        })
final class PauseCommand extends OnTables {

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
        List<PausedTable.Row> paused = change.pause(options.selection());
        if (isJson()) {
            out.println(PauseJson.paused(paused, change.warnings()));
            return CommandLine.ExitCode.OK;
        }
        paused.forEach(row -> out.println(row.kind().text() + " \"" + row.name() + "\" of group \"" + row.group()
                + "\" is paused since " + row.since() + "; running instances "
                + (row.kind() == Kind.TOPIC ? "hold its partitions" : "park its events") + " within a second"));
        change.warnings().forEach(out::println);
        return CommandLine.ExitCode.OK;
    }
}
