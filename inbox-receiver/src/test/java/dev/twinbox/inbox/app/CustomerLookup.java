package dev.twinbox.inbox.app;

import com.github.benmanes.caffeine.cache.AsyncCache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.Executor;

/** Single flight, as docs/how-to/patterns.md shows it: a look-up at a remote service, one at a time for each customer. */
public final class CustomerLookup {

    private static final Duration LIMIT = Duration.ofSeconds(20);

    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final URI service;
    private final AsyncCache<String, String> customers;

    /** @param executor the server's, {@code @Resource ManagedExecutorService} */
    public CustomerLookup(URI service, Executor executor, Duration freshness) {
        this.service = service;
        customers = Caffeine.newBuilder()
                .executor(executor)
                .maximumSize(10_000)
                .expireAfterWrite(freshness)
                .buildAsync();
    }

    public String customer(String id) {
        return customers.get(id, this::ask).join();
    }

    private String ask(String id) {
        HttpRequest request =
                HttpRequest.newBuilder(service.resolve("/" + id)).timeout(LIMIT).build();
        try {
            HttpResponse<String> response = http.send(request, HttpResponse.BodyHandlers.ofString());
            if (response.statusCode() != 200) {
                throw new IllegalStateException("customer service: " + response.statusCode());
            }
            return response.body();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
