package dev.twinbox.proof.matrix;

import java.util.List;
import java.util.stream.Stream;

/** How often something happens, by what was seen; from the best to the worst. */
enum Chance {
    /** It has no meaning here. */
    NONE("–"),
    NEVER("never"),
    MAY("may"),
    ALWAYS("always");

    private final String text;

    Chance(String text) {
        this.text = text;
    }

    /** @param seen each time; not empty */
    static Chance of(List<Boolean> seen) {
        if (!seen.contains(true)) {
            return NEVER;
        }
        return seen.contains(false) ? MAY : ALWAYS;
    }

    /** Reads what {@link #toString()} has written. */
    static Chance parse(String text) {
        return Stream.of(values())
                .filter(chance -> chance.text.equals(text))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("\"" + text + "\" is none of never, may, always"));
    }

    @Override
    public String toString() {
        return text;
    }
}
