package dev.twinbox.console;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * An answer to a request.
 *
 * @param headers beside those that {@link WebServer} gives to each answer
 */
public record WebAnswer(int status, String contentType, Map<String, String> headers, String body) {

    static final String JSON = "application/json";

    private static final String TEXT = "text/plain; charset=utf-8";

    public WebAnswer {
        headers = Map.copyOf(headers);
    }

    /** An answer without further headers. */
    public static WebAnswer of(int status, String contentType, String body) {
        return new WebAnswer(status, contentType, Map.of(), body);
    }

    /** A line of text for a reader. */
    public static WebAnswer text(int status, String line) {
        return of(status, TEXT, line + "\n");
    }

    /** The same answer with one header more. */
    public WebAnswer with(String header, String value) {
        Map<String, String> more = new LinkedHashMap<>(headers);
        more.put(header, value);
        return new WebAnswer(status, contentType, more, body);
    }

    byte[] bytes() {
        return body.getBytes(StandardCharsets.UTF_8);
    }
}
