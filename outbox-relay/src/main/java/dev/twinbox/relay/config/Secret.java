package dev.twinbox.relay.config;

import java.util.regex.Pattern;

/** A value that must never be read in a log, an exception or a status page: it prints as stars. */
public record Secret(String value) {
    public static final String MASK = "********";

    private static final Pattern IN_URL = Pattern.compile("(?i)(password=)[^&\\s]*|(//[^/@\\s]*:)[^/@\\s]*(?=@)");

    /** The same within a JSON string, in which quotes and slashes are escaped, and whose closing quote ends a password. */
    private static final Pattern IN_JSON = Pattern.compile(
            "(?i)(password=)(?:[^&\\s\"\\\\]|\\\\[^nrt])*|(\\\\?/\\\\?/[^/@\\s\"]*:)(?:[^/@\\s\"\\\\]|\\\\[^/nrt])*(?=@)");

    /** A URL, or a text that may hold one, without the passwords in it. */
    public static String masked(String text) {
        return masked(text, IN_URL);
    }

    /** A JSON text without the passwords in its strings. */
    public static String maskedInJson(String json) {
        return masked(json, IN_JSON);
    }

    private static String masked(String text, Pattern pattern) {
        return pattern.matcher(text)
                .replaceAll(match -> (match.group(1) == null ? match.group(2) : match.group(1)) + MASK);
    }

    @Override
    public String toString() {
        return MASK;
    }
}
