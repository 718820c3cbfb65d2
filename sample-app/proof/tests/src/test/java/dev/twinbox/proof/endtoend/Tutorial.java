package dev.twinbox.proof.endtoend;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** What a page of documentation has its reader do: write files and type commands, in the order of the page. */
final class Tutorial {

    private static final String FENCE = "```";
    private static final Set<String> FILES = Set.of("java", "xml", "properties");
    private static final Pattern PATH = Pattern.compile("`([^`]+)`:");

    private Tutorial() {}

    /** One thing that the reader does. */
    sealed interface Step {}

    /** Writes a file. */
    record WriteFile(String path, String content) implements Step {}

    /**
     * Types commands.
     *
     * @param output what the page says that they print; empty: nothing
     */
    record Type(String commands, String output) implements Step {

        /** Whether this only looks, so that a reader who comes too early may simply look again. */
        boolean isLook() {
            return commands.startsWith("curl --silent http") || commands.startsWith("inbox parked list");
        }

        /** Whether this is what the page promises: the same lines, where {@code …} stands for anything. */
        boolean isExpected(String printed) {
            return expectation().matcher(spaced(printed) + "\n").matches();
        }

        /** An ellipsis in a line stays in that line; one that is a line of its own stands for any lines. */
        private Pattern expectation() {
            return Pattern.compile(spaced(output)
                    .lines()
                    .map(line -> line.equals("…") ? "(.*\n)*" : quoted(line) + "\n")
                    .collect(Collectors.joining("", "", output.isEmpty() ? "\n" : "")));
        }

        private static String quoted(String line) {
            return Arrays.stream(line.split("…", -1)).map(Pattern::quote).collect(Collectors.joining(".*"));
        }

        /** Pages are written with spaces where programs print tabs. */
        private static String spaced(String text) {
            return text.replace('\t', ' ');
        }
    }

    /**
     * Reads a page. A file is a block in {@code java}, {@code xml} or {@code properties} with its path in the line above;
     * commands are a block in {@code sh}, what they print is the block in {@code text} that follows.
     *
     * @throws IllegalArgumentException for a block that is none of these
     */
    static List<Step> read(String page) {
        List<Step> steps = new ArrayList<>();
        Iterator<String> lines = page.lines().iterator();
        String above = "";
        while (lines.hasNext()) {
            String line = lines.next();
            if (line.startsWith(FENCE)) {
                add(steps, line.substring(FENCE.length()), above, block(lines));
                above = "";
            } else if (!line.isBlank()) {
                above = line;
            }
        }
        return steps;
    }

    private static void add(List<Step> steps, String language, String above, String block) {
        Matcher path = PATH.matcher(above);
        if (FILES.contains(language) && path.matches()) {
            steps.add(new WriteFile(path.group(1), block + "\n"));
        } else if (language.equals("sh")) {
            steps.add(new Type(block, ""));
        } else if (language.equals("text")
                && above.isEmpty()
                && !steps.isEmpty()
                && steps.get(steps.size() - 1) instanceof Type typed) {
            steps.set(steps.size() - 1, new Type(typed.commands(), block));
        } else {
            throw new IllegalArgumentException("A block that is no commands, no output of commands and no file with"
                    + " its path in the line above, in " + language + ":\n" + block);
        }
    }

    private static String block(Iterator<String> lines) {
        List<String> block = new ArrayList<>();
        for (String line = lines.next(); !line.equals(FENCE); line = lines.next()) {
            block.add(line);
        }
        return String.join("\n", block);
    }
}
