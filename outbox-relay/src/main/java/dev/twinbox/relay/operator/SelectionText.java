package dev.twinbox.relay.operator;

import dev.twinbox.relay.jdbc.ParkedSelection;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A selection of parked events for the action log: {@code topic "orders", key "42"}. */
final class SelectionText {
    private static final int LONGEST = 2_000;

    private SelectionText() {}

    static String of(ParkedSelection which) {
        List<String> conditions = new ArrayList<>();
        if (which.numbers() != null) {
            conditions.add(
                    which.numbers().stream().map(String::valueOf).collect(Collectors.joining(", ", "numbers ", "")));
        }
        add(conditions, "topic", which.topic());
        add(conditions, "key", which.key());
        add(conditions, "type", which.type());
        add(conditions, "error", which.error());
        add(conditions, "since", which.since());
        add(conditions, "since", which.age());
        add(conditions, "cause", which.cause() == null ? null : which.cause().text());
        return conditions.isEmpty() ? "all" : shortened(String.join(", ", conditions));
    }

    private static void add(List<String> conditions, String name, @Nullable Object value) {
        if (value != null) {
            conditions.add(name + " \"" + value + '"');
        }
    }

    private static String shortened(String text) {
        if (text.length() <= LONGEST) {
            return text;
        }
        int end = Character.isHighSurrogate(text.charAt(LONGEST - 1)) ? LONGEST - 1 : LONGEST;
        return text.substring(0, end) + "…";
    }
}
