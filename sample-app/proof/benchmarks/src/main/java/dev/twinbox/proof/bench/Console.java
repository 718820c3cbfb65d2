package dev.twinbox.proof.bench;

import java.util.Locale;

/** Prints progress lines with the seconds since the start. */
final class Console {
    private static final long START = System.nanoTime();

    private Console() {}

    static void say(String line) {
        System.out.printf(Locale.ROOT, "[%5.1f s] %s%n", (System.nanoTime() - START) / 1e9, line);
    }

    static String perSecond(double rate) {
        return String.format(Locale.ROOT, "%,.0f/s", rate);
    }
}
