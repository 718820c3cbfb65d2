package dev.twinbox.relay;

import dev.twinbox.fixtures.RelayProcess;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/** The answer of a relay's HTTP port at one moment. */
record RelayMetrics(String text) {
    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    static RelayMetrics of(RelayProcess relay) throws IOException, InterruptedException {
        return new RelayMetrics(get(relay, "/metrics").body());
    }

    /** The value, independent of labels; throws if it does not exist. */
    double value(String name) {
        return text.lines()
                .filter(line -> line.startsWith(name + "{"))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException(name + " is not in\n" + text));
    }

    static HttpResponse<String> get(RelayProcess relay, String path) throws IOException, InterruptedException {
        URI uri = relay.uri(path);
        return CLIENT.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
    }
}
