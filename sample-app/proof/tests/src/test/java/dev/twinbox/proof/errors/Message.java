package dev.twinbox.proof.errors;

import dev.twinbox.proof.errors.Sources.Unit;
import org.jspecify.annotations.Nullable;

/**
 * A message that somebody can meet.
 *
 * @param kind simple name of the exception, or one of the constants
 * @param exitCode of the relay's process; null for all others
 * @param catalogued the remedy in Javadoc; null: there is none
 */
record Message(
        String kind,
        Unit unit,
        @Nullable String exitCode,
        String text,
        @Nullable String catalogued) {
    static final String PROBLEM = "problem";
    static final String LOGGED = "ERROR line";
    static final String PRINTED = "printed";
    static final String PARKED = "parked";
    static final String READINESS = "readiness";
    static final String REFUSED = "refused by Kafka";

    /** The message cut where its remedy begins. */
    Remedy.Cut cut() {
        return Remedy.cut(text);
    }

    @Nullable String remedy() {
        if (kind.equals(REFUSED)) {
            return catalogued;
        }
        String own = cut().remedy();
        return own.isEmpty() ? catalogued : own;
    }

    @Override
    public String toString() {
        return unit.module() + ", " + unit.className() + ", " + kind + ": " + text;
    }
}
