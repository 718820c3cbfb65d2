package dev.twinbox.relay;

import java.util.regex.Pattern;

/** A value that must never be read in a log, an exception or a status page: it prints as stars. */
record Secret(String value) {
    static final String MASK = "********";

    private static final Pattern IN_URL = Pattern.compile("(?i)(password=)[^&\\s]*|(//[^/@\\s]*:)[^/@\\s]*(?=@)");

    /** A URL, or a text that may hold one, without the passwords in it. */
    static String masked(String text) {
        return IN_URL.matcher(text)
                .replaceAll(match -> (match.group(1) == null ? match.group(2) : match.group(1)) + MASK);
    }

    @Override
    public String toString() {
        return MASK;
    }
}
