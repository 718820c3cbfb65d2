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
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

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

    private static final Pattern LIMIT = Pattern.compile("le=\"([^\"]+)\"");

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
        return value(name, "");
    }

    /** @param label as the metrics write it, such as {@code part="read"} */
    double value(String name, String label) {
        return lines.stream()
                .filter(line -> line.startsWith(name + " ") || line.startsWith(name + "{"))
                .filter(line -> line.contains(label))
                .mapToDouble(RelayMetrics::number)
                .findFirst()
                .orElseThrow(() -> new InvalidRunException("the relay's /metrics has no " + name + " " + label));
    }

    /** The counts of a histogram by their upper limits. */
    NavigableMap<Double, Double> buckets(String name, String label) {
        NavigableMap<Double, Double> buckets = new TreeMap<>();
        for (String line : lines) {
            Matcher limit = LIMIT.matcher(line);
            if (line.startsWith(name + "{") && line.contains(label) && limit.find()) {
                String most = limit.group(1);
                buckets.put(most.equals("+Inf") ? Double.POSITIVE_INFINITY : Double.parseDouble(most), number(line));
            }
        }
        return buckets;
    }

    private static double number(String line) {
        return Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1));
    }
}
