package dev.twinbox.relay;

import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A line that a command prints. Escape sequences of an event must not reach the operator's terminal. */
final class TextLine {
    private TextLine() {}

    /** Values of a list, with tabs between them. */
    static String of(@Nullable Object... values) {
        return Stream.of(values)
                .map(TextLine::orDash)
                .map(TextLine::withoutControls)
                .collect(Collectors.joining("\t"));
    }

    /** A dash if there is no value. */
    static String orDash(@Nullable Object value) {
        return value == null ? "-" : value.toString();
    }

    /** The text on one line. */
    static String withoutControls(String text) {
        return text.replaceAll("[\\s\\p{Cc}]", " ");
    }
}
