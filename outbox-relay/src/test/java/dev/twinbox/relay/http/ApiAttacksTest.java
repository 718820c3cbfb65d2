package dev.twinbox.relay.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.relay.config.ConfigurationReader;
import dev.twinbox.relay.config.DeliveryMode;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.engine.Progress;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Attacks on the operations of the relay. The database of this relay cannot be reached: what is answered with anything
 * but 503 was refused before a statement could run.
 */
class ApiAttacksTest {
    private static final String OPERATOR = "operator-token-0123456789";
    private static final String READER = "reader-token-0123456789";
    private static final String ID = "018f0000-0000-7000-8000-000000000000";

    private static final Progress PROGRESS = new Progress(System::nanoTime);
    private static final Metrics METRICS = new Metrics("relay", DeliveryMode.AT_LEAST_ONCE, PROGRESS);
    private static HttpEndpoint endpoint;

    @BeforeAll
    static void start() {
        RelayConfig config = ConfigurationReader.read(
                null,
                Map.of(),
                Map.of(
                        "twinbox.relay.http.port", "0",
                        "twinbox.relay.http.operator-token", OPERATOR,
                        "twinbox.relay.http.reader-token", READER,
                        "twinbox.relay.database.url", "jdbc:postgresql://127.0.0.1:1/none?connectTimeout=1",
                        "twinbox.relay.kafka.bootstrap.servers", "127.0.0.1:1"));
        endpoint = new HttpEndpoint(config, new Health(PROGRESS, Duration.ofSeconds(10)), METRICS);
    }

    @AfterAll
    static void stop() {
        endpoint.close();
        METRICS.close();
    }

    @ParameterizedTest(name = "{0} {1}")
    @CsvSource({
        // Where is my event: what is no UUID is no id.
        "GET, /events/1, '', 404",
        "GET, /events/1-1-1-1-1, '', 404",
        "GET, /events/" + ID + "0, '', 404",
        "GET, /events/%7B" + ID + "%7D, '', 404",
        "GET, /events/" + ID + "%27--, '', 404",
        "GET, /events/..%2fparked, '', 404",
        "GET, /events/" + ID + "/payload, '', 404",
        "GET, /events/" + ID + "%00, '', 400",
        // Parameters
        "GET, /events, '', 400",
        "GET, /events?key=, '', 400",
        "GET, /events?topic=orders, '', 400",
        "GET, /events?key=a%00b, '', 400",
        "GET, /events?key=a&topic=a%00b, '', 400",
        "GET, /events?key=a&key=b, '', 400",
        "GET, /events?key=a&limit=0, '', 400",
        "GET, /events?key=a&limit=1001, '', 400",
        "GET, /events?key=a&limit=1e3, '', 400",
        "GET, /events?key=a&since=yesterday, '', 400",
        "GET, /events?key=a&since=%2B999999999-12-31T23:59:59Z, '', 400",
        "GET, /events?key=a&since=-P1D, '', 400",
        "GET, /events?key=a&since=P99999999D, '', 400",
        "GET, /events?key=a&id=" + ID + ", '', 400",
        "GET, /events/" + ID + "?limit=10, '', 400",
        "GET, /events/" + ID + "?topic=a%00b, '', 400",
        // Topics
        "GET, /topics/orders, '', 404",
        "GET, /topics/..%2f..%2fstatus, '', 404",
        "GET, /topics;x=y, '', 404",
        "POST, /topics, OPERATOR, 405",
        "DELETE, /topics, OPERATOR, 405",
        // Action log
        "GET, /actions?before=-1, '', 400",
        "GET, /actions?before=x, '', 400",
        "GET, /actions?before=99999999999999999999, '', 400",
        "GET, /actions?limit=0, '', 400",
        "GET, /actions?limit=100000, '', 400",
        "GET, /actions?who=operator, '', 400",
        "GET, /actions/1, '', 404",
        "POST, /actions, OPERATOR, 405",
        "DELETE, /actions, OPERATOR, 405",
        "DELETE, /actions/1, OPERATOR, 404",
        // Methods
        "POST, /events, OPERATOR, 405",
        "POST, /events/" + ID + ", OPERATOR, 405",
        "DELETE, /events/" + ID + ", OPERATOR, 405",
    })
    void refused(String method, String path, String who, int status) throws IOException {
        String answer = exchange(method, path, who);

        assertThat(answer).startsWith("HTTP/1.1 " + status + " ").doesNotContain("\tat ", OPERATOR, READER);
    }

    /** The same requests without the fault reach the database. */
    @ParameterizedTest(name = "{0} {1}")
    @CsvSource({
        "GET, /events?key=a&limit=10&topic=b&since=PT1H, ''",
        "GET, /events/" + ID + ", ''",
        "GET, /actions?before=7&limit=10, ''",
        "GET, /topics, ''",
        "GET, /events/" + ID + "?topic=a&key=b&since=2026-12-02T08:00:00Z, READER",
    })
    void served(String method, String path, String who) throws IOException {
        assertThat(exchange(method, path, who))
                .startsWith("HTTP/1.1 503 ")
                .contains("PostgreSQL at jdbc:postgresql://127.0.0.1:1/none");
    }

    private static String exchange(String method, String path, String who) throws IOException {
        String body = method.equals("POST") ? "{}" : "";
        String token = who.equals("OPERATOR") ? OPERATOR : READER;
        String request = method + " /api/v1" + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                + "Content-Type: application/json\r\nContent-Length: " + body.length() + "\r\n"
                + (who.isEmpty() ? "" : "Authorization: Bearer " + token + "\r\n") + "\r\n" + body;
        try (Socket client = new Socket(InetAddress.getLoopbackAddress(), endpoint.port())) {
            client.setSoTimeout(30_000);
            client.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
            return new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
