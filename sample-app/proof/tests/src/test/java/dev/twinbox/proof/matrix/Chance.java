package dev.twinbox.proof.matrix;

import java.util.List;
import java.util.stream.Stream;

/** How often something was seen, from the best to the worst. */
enum Chance {
    /** Not applicable. */
    NONE("–"),
    NEVER("never"),
    MAY("may"),
    ALWAYS("always");

    private final String text;

    Chance(String text) {
        this.text = text;
    }

    /** @param seen whether it was seen in each attempt; not empty */
    static Chance of(List<Boolean> seen) {
        if (!seen.contains(true)) {
            return NEVER;
        }
        return seen.contains(false) ? MAY : ALWAYS;
    }

    /** Parses the result of {@link #toString()}. */
    static Chance parse(String text) {
        return Stream.of(values())
                .filter(chance -> chance.text.equals(text))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("\"" + text + "\" is not never, may or always"));
    }

    @Override
    public String toString() {
        return text;
    }
}
