package dev.twinbox.proof.soak;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;

/** Asks processes whether they are ready. */
final class Readiness {

    private static final Duration LIMIT = Duration.ofSeconds(2);
    private static final int NOT_READY = 503;

    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(LIMIT)
            .build();

    /** Whether one of them answers that it is not ready. One that does not answer says nothing. */
    boolean isOneNotReady(List<URI> readiness) {
        return readiness.stream().anyMatch(uri -> status(uri) == NOT_READY);
    }

    private int status(URI uri) {
        try {
            HttpRequest request =
                    HttpRequest.newBuilder(uri).timeout(LIMIT).GET().build();
            return http.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
        } catch (IOException e) {
            return 0;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return 0;
        }
    }
}
