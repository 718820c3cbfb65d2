package dev.twinbox.console.operator;

import dev.twinbox.console.ProblemException;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** What parameters of all calls have in common. */
public final class Parameters {

    private static final int MOST_LISTED = 1_000;

    private Parameters() {}

    /** Fails if there is a parameter that the call does not know. */
    public static void refuseUnknown(Set<String> given, Set<String> known) {
        if (!known.containsAll(given)) {
            throw new ProblemException(
                    400, "Known are " + String.join(", ", new TreeSet<>(known)) + ": leave out all else");
        }
    }

    /** How many entries a page has at most. */
    public static int limit(Map<String, String> query) {
        return (int) number("limit", query.getOrDefault("limit", "100"), MOST_LISTED);
    }

    /** A whole number, from 0 to {@code most}; 0 is no limit. */
    public static long number(String name, String text, long most) {
        if (!text.matches("\\d{1,18}") || Long.parseLong(text) > most || (name.equals("limit") && text.matches("0+"))) {
            throw new ProblemException(
                    400,
                    "\"" + name + "\" must be a whole number" + (most == Long.MAX_VALUE ? "" : " from 1 to " + most));
        }
        return Long.parseLong(text);
    }
}
