package dev.twinbox.inbox.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/** Requests to a server under load. */
final class Requests {

    /** HTTP/1.1, because the server now and then ends an HTTP/2 connection while an answer is on its way. */
    private static final HttpClient HTTP = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(30))
            .build();

    private Requests() {}

    /**
     * The answer to a GET. It is repeated once, because the server may close an idle connection at the moment of its
     * reuse. A query may change something, so it is not repeated.
     */
    static HttpResponse<String> get(URI uri, BooleanSupplier isServerAlive) {
        HttpRequest request =
                HttpRequest.newBuilder(uri).timeout(Duration.ofSeconds(60)).build();
        try {
            return send(request);
        } catch (IOException first) {
            if (uri.getQuery() != null || !isServerAlive.getAsBoolean()) {
                throw new UncheckedIOException(first);
            }
            try {
                return send(request);
            } catch (IOException e) {
                e.addSuppressed(first);
                throw new UncheckedIOException(e);
            }
        }
    }

    private static HttpResponse<String> send(HttpRequest request) throws IOException {
        try {
            return HTTP.send(request, HttpResponse.BodyHandlers.ofString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
