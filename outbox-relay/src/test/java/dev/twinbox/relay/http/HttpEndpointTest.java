package dev.twinbox.relay.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.twinbox.console.config.HttpConfig;
import dev.twinbox.relay.config.ConfigurationReader;
import dev.twinbox.relay.config.DeliveryMode;
import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.config.RelayException;
import dev.twinbox.relay.engine.Progress;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class HttpEndpointTest {
    private final Progress progress = new Progress(System::nanoTime);
    private final Metrics metrics = new Metrics("relay", DeliveryMode.AT_LEAST_ONCE, progress);
    private final HttpEndpoint endpoint = endpoint("127.0.0.1", 0);

    @AfterEach
    void close() {
        endpoint.close();
        metrics.close();
    }

    @Test
    void healthIsJsonWith503WhenDownAnd200WhenUp() throws Exception {
        HttpResponse<String> down = get("/health/ready");
        assertThat(down.statusCode()).isEqualTo(503);
        assertThat(down.headers().firstValue("content-type")).hasValue("application/json");
        assertThat(down.body()).startsWith("{\"status\":\"DOWN\"");

        progress.recordLeaseHeld(7);
        progress.recordPoll(0);
        HttpResponse<String> up = get("/health/ready");
        assertThat(up.statusCode()).isEqualTo(200);
        assertThat(up.body()).startsWith("{\"status\":\"UP\"").contains("\"epoch\":\"7\"");
        assertThat(get("/health/live").statusCode()).isEqualTo(200);
    }

    @Test
    void metricsHaveTheFiguresOfTheRelayAndAFixedNumberOfSeries() throws Exception {
        progress.recordPoll(3);
        progress.recordAcknowledged(2, 100);
        String first = get("/metrics").body();

        assertThat(first)
                .contains("twinbox_relay_acknowledged_total{relay=\"relay\"} 2.0")
                .contains("twinbox_relay_in_flight{relay=\"relay\"} 1.0")
                .contains("twinbox_relay_first_read_seconds", "twinbox_relay_last_ack_seconds")
                .contains("jvm_memory_used_bytes");
        for (int i = 0; i < 1_000; i++) {
            progress.recordSaved("position " + i);
            progress.recordBrokerFailure("topic-" + i);
        }
        assertThat(relaySeries(get("/metrics").body())).isEqualTo(relaySeries(first));
    }

    @Test
    void otherPathsAreNotFoundAndNothingCanBeChanged() throws Exception {
        assertThat(get("/").statusCode()).isEqualTo(404);
        assertThat(get("/health/ready/x").statusCode()).isEqualTo(404);
        HttpRequest post = HttpRequest.newBuilder(uri("/metrics"))
                .POST(HttpRequest.BodyPublishers.ofString("x"))
                .build();
        assertThat(client().send(post, HttpResponse.BodyHandlers.ofString()).statusCode())
                .isEqualTo(405);
    }

    @Test
    void aPortInUseIsAUsageErrorThatNamesIt() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertThatThrownBy(() -> endpoint("127.0.0.1", taken.getLocalPort()))
                    .isInstanceOfSatisfying(
                            RelayException.class, e -> assertThat(e.exitCode()).isEqualTo(ExitCode.USAGE))
                    .hasMessageContaining("127.0.0.1:" + taken.getLocalPort())
                    .hasMessageContaining("twinbox.relay.http.port");
        }
    }

    @Test
    void anAddressOfAnotherHostIsAUsageError() {
        assertThatThrownBy(() -> endpoint("192.0.2.1", 0))
                .isInstanceOf(RelayException.class)
                .hasMessageContaining("192.0.2.1");
        assertThatThrownBy(() -> endpoint("no such host", 0))
                .isInstanceOf(RelayException.class)
                .hasMessageContaining("no such host");
    }

    @Test
    void withoutATokenInTheConfigurationThereIsNoApi() throws Exception {
        Map<String, String> none = Map.of("twinbox.relay.http.insecure", "true", "twinbox.relay.http.names", "relay1");
        try (HttpEndpoint closed = endpoint(none)) {
            for (String operation : OpenApiTest.api(config(none)).routes()) {
                String[] route = operation.split(" ", 2);
                HttpResponse<String> answer = send(closed, route[0], route[1].replaceAll("\\{\\w+}", "1"));
                assertThat(answer.statusCode()).as(operation).isEqualTo(404);
                assertThat(answer.body()).as(operation).contains("ask for /health/live, /health/ready, /metrics");
            }
        }
        for (String token : List.of("reader-token", "operator-token")) {
            try (HttpEndpoint open = endpoint(Map.of("twinbox.relay.http." + token, "0123456789abcdef"))) {
                assertThat(send(open, "GET", "/api/v1/openapi.json").statusCode())
                        .as(token)
                        .isEqualTo(200);
            }
        }
    }

    private HttpEndpoint endpoint(Map<String, String> settings) {
        return new HttpEndpoint(config(settings), new Health(progress, Duration.ofSeconds(10)), metrics);
    }

    private static RelayConfig config(Map<String, String> settings) {
        Map<String, String> all = new HashMap<>(settings);
        all.put("twinbox.relay.database.url", "jdbc:postgresql://localhost/none");
        all.put("twinbox.relay.kafka.bootstrap.servers", "localhost:1");
        all.put("twinbox.relay.http.port", "0");
        return ConfigurationReader.read(null, Map.of(), all);
    }

    private static HttpResponse<String> send(HttpEndpoint endpoint, String method, String path)
            throws IOException, InterruptedException {
        return client().send(
                        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + endpoint.port() + path))
                                .method(method, HttpRequest.BodyPublishers.noBody())
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
    }

    private HttpEndpoint endpoint(String host, int port) {
        Health health = new Health(progress, Duration.ofSeconds(10));
        return new HttpEndpoint(new HttpConfig(host, port), health, metrics);
    }

    private static long relaySeries(String scrape) {
        return scrape.lines().filter(line -> line.startsWith("twinbox_")).count();
    }

    private HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return client().send(HttpRequest.newBuilder(uri(path)).build(), HttpResponse.BodyHandlers.ofString());
    }

    private URI uri(String path) {
        return URI.create("http://127.0.0.1:" + endpoint.port() + path);
    }

    private static HttpClient client() {
        return HttpClient.newHttpClient();
    }
}
