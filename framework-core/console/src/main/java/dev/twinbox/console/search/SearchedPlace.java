package dev.twinbox.console.search;

import dev.twinbox.console.operator.JsonText;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Where an event was looked for, and how far.
 *
 * @param name of a table, or of a topic and partitions
 * @param read rows or records that were looked at
 * @param isCut whether a limit, or a problem, ended the search before all was looked at
 * @param from time of the first record; null: nothing was read, or it is a table
 * @param to time of the last record, likewise
 * @param problem why it could not be searched, and the remedy; null: it could
 */
public record SearchedPlace(
        String name,
        long read,
        boolean isCut,
        @Nullable Instant from,
        @Nullable Instant to,
        @Nullable String problem) {

    /** The rows of a table. */
    public static SearchedPlace table(String name, long rows, boolean isCut) {
        return new SearchedPlace(name, rows, isCut, null, null, null);
    }

    /** Nothing could be read. */
    public static SearchedPlace withProblem(String name, String problem) {
        return new SearchedPlace(name, 0, true, null, null, problem);
    }

    /** What is not known is left out. */
    public JsonText json() {
        return new JsonText()
                .with("place", name)
                .with("read", read)
                .with("isCut", isCut)
                .with("from", from)
                .with("to", to)
                .with("problem", problem);
    }
}
