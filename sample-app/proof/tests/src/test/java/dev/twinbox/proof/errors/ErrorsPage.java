package dev.twinbox.proof.errors;

import com.sun.source.tree.NewClassTree;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Writes {@code docs/reference/errors.md}, ordered by places and texts, so that a moved class changes nothing. */
final class ErrorsPage {
    /** A table cell holds at most 40 words, by the rule of all pages. */
    private static final int WORDS = 40;

    private static final Pattern REASON = Pattern.compile("(?<=[^\\s])(?:: |; |\\. (?=\\p{Lu}))(?=.*\\p{L}{2})");
    private static final Pattern LETTER = Pattern.compile("\\p{L}");
    private static final String HEAD = """
            # Errors

            Search this page for a part of the message that you have.
            `…` stands for what differs: a name, a number, a key.
            The cause is in the message itself where its column is empty.

            `ErrorsTest` writes this page from the sources.
            It fails when a message has no remedy, or when this page differs:

            ```sh
            ./mvnw -pl sample-app/proof/tests -am test -Dtest=ErrorsTest -Dsurefire.failIfNoSpecifiedTests=false \\
                -Dtwinbox.it.write-errors=true
            ```
            """;

    private final Sources sources;
    private final Map<Place, Map<String, List<Message>>> messages;

    ErrorsPage(Sources sources, List<Message> all) {
        this.sources = sources;
        messages = all.stream()
                .collect(Collectors.groupingBy(
                        Place::of,
                        TreeMap::new,
                        Collectors.groupingBy(Message::kind, TreeMap::new, Collectors.toList())));
    }

    String text() {
        StringBuilder page = new StringBuilder(HEAD);
        messages.forEach((place, byKind) -> {
            page.append("\n## ").append(place.title()).append("\n\n");
            page.append(place.introduction()).append('\n');
            byKind.forEach((kind, ofKind) -> appendTable(page, kind, ofKind));
        });
        return page.toString();
    }

    private void appendTable(StringBuilder page, String kind, List<Message> ofKind) {
        boolean hasExitCodes = kind.equals("RelayException");
        page.append('\n').append(introduction(kind)).append("\n\n");
        page.append(hasExitCodes ? "| message | exit code | cause | remedy |\n|---|---|---|---|\n" : "")
                .append(hasExitCodes ? "" : "| message | cause | remedy |\n|---|---|---|\n");
        ofKind.stream()
                .map(message -> row(message, hasExitCodes))
                .collect(Collectors.toCollection(() -> new TreeSet<>(Comparator.comparing((String row) ->
                                row.replace(Wording.VARIABLE, "").toLowerCase(Locale.ROOT))
                        .thenComparing(Comparator.naturalOrder()))))
                .forEach(page::append);
    }

    /** The exception's name and the first sentence of its Javadoc. */
    private String introduction(String kind) {
        return switch (kind) {
            case Message.PROBLEM -> "Problems of a list:";
            case Message.LOGGED -> "ERROR lines of the log:";
            case Message.PRINTED -> "Lines on the error output:";
            case Message.PARKED -> "Errors of parked events:";
            case Message.READINESS -> "Causes that readiness names:";
            case Message.REFUSED -> "Exceptions of Kafka with which an event is parked:";
            default ->
                "`" + kind + "`"
                        + sources.javadoc(kind)
                                .map(javadoc -> ": " + decapitalized(firstSentence(javadoc)))
                                .orElse(":");
        };
    }

    private static String decapitalized(String sentence) {
        return Character.toLowerCase(sentence.charAt(0)) + sentence.substring(1);
    }

    private static String firstSentence(String javadoc) {
        return javadoc.strip()
                .replaceAll("\\s+", " ")
                .replaceAll("\\{@\\w+ ([^}]*)\\}", "`$1`")
                .split("(?<=\\.) ", 2)[0];
    }

    private String row(Message message, boolean hasExitCode) {
        Remedy.Cut cut = message.cut();
        String remedy = String.valueOf(message.remedy());
        boolean isWhole = message.kind().equals(Message.REFUSED)
                || !LETTER.matcher(cut.cause()).find();
        String happened = isWhole ? message.text() : cut.cause();
        String cause = "";
        Matcher reason = REASON.matcher(happened);
        if (!isWhole && reason.find() && Wording.isWritten(happened.substring(0, reason.start()))) {
            cause = happened.substring(reason.end());
            happened = happened.substring(0, reason.start());
        }
        String code = hasExitCode ? " | " + exitCode(message) : "";
        return "| " + code(happened) + code + " | " + prose(cause) + " | "
                + (cut.cause().isEmpty() && remedy.equals(message.text()) ? "as the message says" : prose(remedy))
                + " |\n";
    }

    /** Its number and name. A code that depends on the failure is not in the source as one name. */
    private String exitCode(Message message) {
        String name = message.exitCode();
        if (name == null) {
            return "by the cause";
        }
        return sources.constant(message.unit(), "ExitCode", name)
                .map(constant -> constant.value() instanceof NewClassTree made
                        ? made.getArguments().get(0) + " " + name
                        : name)
                .orElse(name);
    }

    private static String code(String text) {
        String quote = text.contains("`") ? "``" : "`";
        return quote + text.strip().replace("|", "\\|") + quote;
    }

    /** A text of more words than a cell may hold ends after the last sentence or clause that fits. */
    private static String prose(String text) {
        String fitting = text;
        while (fitting.split("\\s+").length > WORDS) {
            String shorter = fitting.replaceFirst("(?s)(.*)(?:[.;:] |, (?=or )).*", "$1");
            fitting = shorter.equals(fitting)
                    ? String.join(" ", List.of(fitting.split("\\s+")).subList(0, WORDS)) + " " + Wording.VARIABLE
                    : shorter;
            if (shorter.equals(text)) {
                break;
            }
        }
        return fitting.replace("|", "\\|")
                .replace("<", "&lt;")
                .replace("*", "\\*")
                .replaceFirst("(?:[.]|[:;,] " + Wording.VARIABLE + ")$", "");
    }
}
