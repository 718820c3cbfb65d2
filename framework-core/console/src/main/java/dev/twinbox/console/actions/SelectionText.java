package dev.twinbox.console.actions;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A selection for the action log, made condition by condition: {@code topic "orders", key "42"}. */
public final class SelectionText {
    private static final int LONGEST = 2_000;

    private final List<String> conditions = new ArrayList<>();

    /** With these numbers of events; null: none are given. */
    public SelectionText withNumbers(@Nullable List<Long> numbers) {
        if (numbers != null) {
            conditions.add(numbers.stream().map(String::valueOf).collect(Collectors.joining(", ", "numbers ", "")));
        }
        return this;
    }

    /** With one condition; null: it is not given. */
    public SelectionText with(String name, @Nullable Object value) {
        if (value != null) {
            conditions.add(name + " \"" + value + '"');
        }
        return this;
    }

    /** All of it; {@code all} without a condition. */
    @Override
    public String toString() {
        return conditions.isEmpty() ? "all" : shortened(String.join(", ", conditions));
    }

    private static String shortened(String text) {
        if (text.length() <= LONGEST) {
            return text;
        }
        int end = Character.isHighSurrogate(text.charAt(LONGEST - 1)) ? LONGEST - 1 : LONGEST;
        return text.substring(0, end) + "…";
    }
}
