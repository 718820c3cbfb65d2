package dev.twinbox.console.cli;

import dev.twinbox.console.operator.JsonText;
import jakarta.json.JsonObject;
import java.io.PrintWriter;
import java.util.List;
import java.util.function.Function;
import picocli.CommandLine.Option;

/** How many parked events a list has, and how it is printed. */
public final class ListOptions {
    private static final int MOST = 10_000;

    @Option(
            names = "--limit",
            paramLabel = "N",
            defaultValue = "100",
            description = "Most events; default: ${DEFAULT-VALUE}.")
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

    public int limit() {
        return limit;
    }

    /** Prints a line for each event below these columns. */
    public static <T> void print(PrintWriter out, String columns, List<T> events, Function<T, String> line, long more) {
        out.println(events.isEmpty() ? "0 parked events" : columns);
        events.forEach(event -> out.println(line.apply(event)));
        if (more > 0) {
            out.println(more + " more, see --limit");
        }
    }

    /** Prints one document. */
    public static <T> void printJson(PrintWriter out, List<T> events, Function<T, JsonObject> json, long more) {
        out.println(new JsonText()
                .with("parked", events.stream().map(json).toList())
                .with("more", more)
                .build());
    }
}
