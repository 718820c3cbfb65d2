package dev.twinbox.proof.bench.report;

import java.util.Locale;

/** Prints progress lines with the seconds since the start. */
public final class Console {
    private static final long START = System.nanoTime();

    private Console() {}

    public static void say(String line) {
        System.out.printf(Locale.ROOT, "[%5.1f s] %s%n", (System.nanoTime() - START) / 1e9, line);
    }

    public static String perSecond(double rate) {
        return String.format(Locale.ROOT, "%,.0f/s", rate);
    }
}
