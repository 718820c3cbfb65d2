package dev.twinbox.relay.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.fixtures.ApiAttacks;
import dev.twinbox.fixtures.PageFiles;
import dev.twinbox.relay.config.ConfigurationReader;
import dev.twinbox.relay.config.DeliveryMode;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.engine.Progress;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The pages come from the jar alone, run no foreign script, and show what the API has. No browser is needed. */
class PagesTest {
    private static final String OPERATOR = "operator-token-0123456789";

    private final Progress progress = new Progress(System::nanoTime);
    private final Metrics metrics = new Metrics("relay", DeliveryMode.AT_LEAST_ONCE, progress);
    private HttpEndpoint endpoint = start(Map.of("twinbox.relay.http.operator-token", OPERATOR));

    @AfterEach
    void stop() {
        endpoint.close();
        metrics.close();
    }

    @Test
    void allThatThePagesLoadIsServed() throws IOException {
        assertThat(files().all())
                .containsKeys(
                        "", "console.css", "main.js", "overview.js", "stuck.js", "topics.js", "uplot.js", "uplot.css")
                .hasSizeGreaterThan(10);
        for (String file : files().all().keySet()) {
            assertThat(headers(get("/console/" + file)))
                    .as(file)
                    .contains(
                            "\r\ncontent-type: text/" + type(file) + "; charset=utf-8\r\n",
                            "\r\nx-content-type-options: nosniff\r\n");
        }
        assertThat(headers(get("/console"))).startsWith("http/1.1 308 ").contains("\r\nlocation: /console/\r\n");
    }

    private static String type(String file) {
        if (file.isEmpty()) {
            return "html";
        }
        return file.endsWith("css") ? "css" : "javascript";
    }

    private PageFiles files() throws IOException {
        return new PageFiles(name -> {
            String answer = get("/console/" + name);
            if (!answer.startsWith("HTTP/1.1 200 ")) {
                throw new IOException(name + ": " + answer);
            }
            return body(answer);
        });
    }

    @Test
    void theBrowserRunsNoOtherScript() throws IOException {
        assertThat(headers(get("/console/")))
                .contains(
                        "\r\ncontent-security-policy: default-src 'none'; script-src 'self';", "frame-ancestors 'none'")
                .doesNotContain("unsafe");
        assertThat(files().dangers()).isEmpty();
    }

    @Test
    void theyShowFieldsThatTheApiHas() throws IOException {
        List<String> fields = Pattern.compile("(?m)^  \\[\"(\\w+)\", |\\bstatus\\.(\\w+)")
                .matcher(body(get("/console/overview.js")))
                .results()
                .map(PagesTest::field)
                .toList();
        assertThat(fields).hasSizeGreaterThan(15).contains("lease", "stuck", "slots", "relay");
        assertThat(OperatorApi.document()
                        .getJsonObject("components")
                        .getJsonObject("schemas")
                        .getJsonObject("Status")
                        .getJsonObject("properties")
                        .keySet())
                .containsAll(fields);
        assertThat(files().missingIds()).isEmpty();
    }

    private static String field(MatchResult found) {
        return found.group(1) == null ? found.group(2) : found.group(1);
    }

    @ParameterizedTest(name = "{0} {1}")
    @CsvSource({
        "GET, /console/, evil.example, 421",
        "GET, /console/overview.js, evil.example, 421",
        "POST, /console/, localhost, 405",
        "GET, /console/missing.js, localhost, 404",
        "GET, /console/..%2foverview.js, localhost, 404",
        "GET, /console/../console/../openapi.json, localhost, 404",
        "GET, /console/%2e%2e/OperatorApi.class, localhost, 404",
        "GET, /console/index.html, localhost, 404",
        "GET, //console/, localhost, 404",
        "GET, /consoles, localhost, 404",
    })
    void otherRequestsAreRefused(String method, String path, String host, int status) throws IOException {
        assertThat(exchange(method, path, host)).startsWith("HTTP/1.1 " + status + " ");
    }

    @Test
    void payloadsCanBeSwitchedOff() throws IOException {
        endpoint.close();
        endpoint = start(Map.of("twinbox.relay.http.operator-token", OPERATOR, "twinbox.relay.http.payloads", "false"));

        assertThat(ApiAttacks.exchange(endpoint.port(), ApiAttacks.request("GET", "/parked/1/payload", OPERATOR)))
                .startsWith("HTTP/1.1 403 ")
                .contains("twinbox.relay.http.payloads=false");
    }

    @Test
    void withoutTheApiThereIsNoPage() throws IOException {
        endpoint.close();
        endpoint = start(Map.of());
        assertThat(get("/console/")).startsWith("HTTP/1.1 404 ");
        endpoint.close();
        endpoint = start(Map.of("twinbox.relay.http.operator-token", OPERATOR, "twinbox.relay.http.host", "0.0.0.0"));
        assertThat(get("/console/")).startsWith("HTTP/1.1 404 ");
    }

    private HttpEndpoint start(Map<String, String> changes) {
        Map<String, String> settings = new HashMap<>(changes);
        settings.put("twinbox.relay.http.port", "0");
        settings.put("twinbox.relay.database.url", "jdbc:postgresql://localhost/none");
        settings.put("twinbox.relay.kafka.bootstrap.servers", "localhost:1");
        RelayConfig config = ConfigurationReader.read(null, Map.of(), settings);
        return new HttpEndpoint(config, new Health(progress, Duration.ofSeconds(10)), metrics);
    }

    private static String headers(String answer) {
        return answer.substring(0, answer.indexOf("\r\n\r\n") + 2).toLowerCase(Locale.ROOT);
    }

    private static String body(String answer) {
        return answer.substring(answer.indexOf("\r\n\r\n") + 4);
    }

    private String get(String path) throws IOException {
        return exchange("GET", path, "localhost");
    }

    private String exchange(String method, String path, String host) throws IOException {
        String request = method + " " + path + " HTTP/1.1\r\nHost: " + host
                + "\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
        try (Socket client = new Socket(InetAddress.getLoopbackAddress(), endpoint.port())) {
            client.setSoTimeout(30_000);
            client.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
            return new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
