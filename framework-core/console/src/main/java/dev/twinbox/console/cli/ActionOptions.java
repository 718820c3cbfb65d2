package dev.twinbox.console.cli;

import dev.twinbox.console.actions.ActionJson;
import dev.twinbox.console.actions.ActionLog;
import java.io.PrintWriter;
import java.sql.SQLException;
import java.util.List;
import picocli.CommandLine.Option;

/** How much of the action log is printed, and how. */
public final class ActionOptions {
    private static final String COLUMNS = "NUMBER\tAT\tWHO\tVIA\tACTION\tEVENTS\tSELECTION";
    private static final int MOST = 1_000;

    @Option(
            names = "--limit",
            paramLabel = "N",
            defaultValue = "100",
            description = "Most lines, at most 1000; default: ${DEFAULT-VALUE}.")
    private int limit;

    /**
     * Checks the number.
     *
     * @throws IllegalArgumentException if it is not legal
     */
    public void check() {
        if (limit < 1 || limit > MOST) {
            throw new IllegalArgumentException("--limit " + limit + " must be from 1 to " + MOST);
        }
    }

    /** Prints the newest changes, a line each. */
    public void print(ActionLog log, PrintWriter out) throws SQLException {
        List<ActionLog.Line> lines = log.page(Long.MAX_VALUE, limit);
        out.println(lines.isEmpty() ? "0 changes in the last 30 days" : COLUMNS);
        lines.forEach(line -> out.println(text(line)));
        out.flush();
    }

    /** Prints the newest changes as one document. */
    public void printJson(ActionLog log, PrintWriter out) throws SQLException {
        out.println(ActionJson.page(log, Long.MAX_VALUE, limit));
        out.flush();
    }

    private static String text(ActionLog.Line line) {
        ActionLog.Action action = line.action();
        return TextLine.of(
                line.number(),
                line.at(),
                action.who(),
                action.via(),
                action.action(),
                action.events(),
                action.selection());
    }
}
