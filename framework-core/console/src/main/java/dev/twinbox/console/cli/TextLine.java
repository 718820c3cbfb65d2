package dev.twinbox.console.cli;

import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A line that a command prints. Escape sequences of an event must not reach the operator's terminal. */
public final class TextLine {
    private TextLine() {}

    /** Values of a list, with tabs between them. */
    public static String of(@Nullable Object... values) {
        return Stream.of(values)
                .map(TextLine::orDash)
                .map(TextLine::withoutControls)
                .collect(Collectors.joining("\t"));
    }

    /** A dash if there is no value. */
    public static String orDash(@Nullable Object value) {
        return value == null ? "-" : value.toString();
    }

    /** The text on one line. */
    public static String withoutControls(String text) {
        return text.replaceAll("[\\s\\p{Cc}]", " ");
    }

    /** The text on as many lines as it has. */
    public static String withLineBreaks(String text) {
        return text.replaceAll("[\\p{Cc}&&[^\\r\\n\\t]]", "\uFFFD");
    }

    /** The beginning of the text, if it is longer. */
    public static String cut(String text, int longest) {
        return text.length() <= longest ? text : text.substring(0, longest - 1) + '…';
    }
}
