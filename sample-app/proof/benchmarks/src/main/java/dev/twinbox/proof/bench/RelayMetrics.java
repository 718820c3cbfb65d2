package dev.twinbox.proof.bench;

import dev.twinbox.fixtures.RelayProcess;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

/** The {@code /metrics} of a relay at one moment. */
final class RelayMetrics {

    /** How many events the broker has acknowledged. */
    static final String ACKNOWLEDGED = "twinbox_relay_acknowledged_total";
    /** 1 while the process holds the lease. */
    static final String LEASE_HELD = "twinbox_relay_lease_held";
    /** When the latest acknowledgement arrived, in seconds since the process started. */
    static final String FIRST_READ = "twinbox_relay_first_read_seconds";
    /** When the latest acknowledgement came, in seconds since the process started. */
    static final String LAST_ACKNOWLEDGEMENT = "twinbox_relay_last_ack_seconds";

    private static final HttpClient HTTP = HttpClient.newHttpClient();
    /** Rare: each request costs the relay some time. The measured times do not depend on it. */
    private static final Duration SCRAPE = Duration.ofSeconds(1);

    private final List<String> lines;

    private RelayMetrics(List<String> lines) {
        this.lines = lines;
    }

    /** Empty while the relay does not answer. */
    static RelayMetrics of(RelayProcess relay) {
        URI uri = relay.uri("/metrics");
        try {
            HttpResponse<String> response = HTTP.send(
                    HttpRequest.newBuilder(uri).timeout(Duration.ofSeconds(5)).build(),
                    HttpResponse.BodyHandlers.ofString());
            return new RelayMetrics(
                    response.statusCode() == 200 ? Arrays.asList(response.body().split("\n")) : List.of());
        } catch (IOException e) {
            return new RelayMetrics(List.of());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InvalidRunException("interrupted while asking " + uri, e);
        }
    }

    /** Waits until this many events are acknowledged. */
    static RelayMetrics awaitAcknowledged(RelayProcess relay, long events, Deadline deadline) {
        RelayMetrics[] latest = {new RelayMetrics(List.of())};
        deadline.await("the relay's last acknowledgement", SCRAPE, () -> {
            if (!relay.isAlive()) {
                throw new InvalidRunException("the relay ended by itself:\n" + relay.log());
            }
            latest[0] = of(relay);
            return !latest[0].isEmpty() && latest[0].value(ACKNOWLEDGED) >= events;
        });
        return latest[0];
    }

    boolean isEmpty() {
        return lines.isEmpty();
    }

    Duration seconds(String name) {
        return Duration.ofNanos(Math.round(value(name) * 1e9));
    }

    double value(String name) {
        return lines.stream()
                .filter(line -> line.startsWith(name + " ") || line.startsWith(name + "{"))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .findFirst()
                .orElseThrow(() -> new InvalidRunException("the relay's /metrics has no " + name));
    }
}
