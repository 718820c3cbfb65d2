package dev.twinbox.relay;

import dev.twinbox.relay.jdbc.ParkedSelection;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Selections of parked events, for tests. */
public final class ParkedSelections {

    private ParkedSelections() {}

    public static ParkedSelection number(long... numbers) {
        return new ParkedSelection(Arrays.stream(numbers).boxed().toList(), null, null, null, null, null, null);
    }

    public static ParkedSelection topic(String topic) {
        return key(topic, null);
    }

    public static ParkedSelection key(String topic, @Nullable String key) {
        return new ParkedSelection(null, topic, key, null, null, null, null);
    }

    /** Whose error contains this text. */
    public static ParkedSelection error(String text) {
        return new ParkedSelection(null, null, null, null, text, null, null);
    }
}
