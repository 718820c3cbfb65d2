package dev.twinbox.proof.landscape;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;

/** Talks to the orders service as any client would: over its REST interface. */
public final class OrdersClient {

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final int PAYMENT_REQUIRED = 402;

    private final URI orders;
    private final HttpClient http = HttpClient.newBuilder()
            // The client's default asks for HTTP/2 without TLS first, which Payara takes up and now and then drops.
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(2))
            .build();

    /** @param orders the address of the service's {@code orders} resource */
    public OrdersClient(URI orders) {
        this.orders = orders;
    }

    /** Places orders, each in a transaction of its own, for one customer after the other. */
    public void place(int count) {
        requireStatus(200, post("?count=" + count));
    }

    /** Places orders, each in a transaction of its own, all for one customer. */
    public void place(int count, long customer) {
        requireStatus(200, post("?count=" + count + "&customer=" + customer));
    }

    /** Places an order that is rolled back. */
    public void placeDeclined() {
        requireStatus(PAYMENT_REQUIRED, post("/declined"));
    }

    private HttpResponse<String> post(String suffix) {
        HttpRequest request = HttpRequest.newBuilder(URI.create(orders + suffix))
                .timeout(LIMIT)
                .POST(HttpRequest.BodyPublishers.noBody())
                .build();
        try {
            return http.send(request, HttpResponse.BodyHandlers.ofString());
        } catch (IOException e) {
            throw new UncheckedIOException("The orders service does not answer: " + e, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while placing orders", e);
        }
    }

    private static void requireStatus(int expected, HttpResponse<String> answer) {
        if (answer.statusCode() != expected) {
            throw new IllegalStateException("The orders service answered " + answer.statusCode() + " instead of "
                    + expected + ": " + answer.body().lines().limit(5).toList());
        }
    }
}
