package dev.twinbox.relay.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.fixtures.ApiAttacks;
import dev.twinbox.relay.config.ConfigurationReader;
import dev.twinbox.relay.config.DeliveryMode;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.engine.Progress;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Attacks on the operations of the relay. The database of this relay cannot be reached: what is answered with anything
 * but 503 was refused before a statement could run.
 */
class ApiAttacksTest {
    private static final String ID = "018f0000-0000-7000-8000-000000000000";

    private static final Progress PROGRESS = new Progress(System::nanoTime);
    private static final Metrics METRICS = new Metrics("relay", DeliveryMode.AT_LEAST_ONCE, PROGRESS);
    private HttpEndpoint endpoint;

    /** Anew for each attack: what comes too often is refused for that alone. */
    @BeforeEach
    void start() {
        RelayConfig config = ConfigurationReader.read(
                null,
                Map.of(),
                Map.of(
                        "twinbox.relay.http.port", "0",
                        "twinbox.relay.http.operator-token", ApiAttacks.OPERATOR,
                        "twinbox.relay.http.reader-token", ApiAttacks.READER,
                        "twinbox.relay.database.url", "jdbc:postgresql://127.0.0.1:1/none?connectTimeout=1",
                        "twinbox.relay.kafka.bootstrap.servers", "127.0.0.1:1"));
        endpoint = new HttpEndpoint(config, new Health(PROGRESS, Duration.ofSeconds(10)), METRICS);
    }

    @AfterEach
    void stop() {
        endpoint.close();
    }

    @AfterAll
    static void close() {
        METRICS.close();
    }

    static Stream<ApiAttacks.Attack> attacks() {
        return ApiAttacks.all();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("attacks")
    void anAttackIsRefused(ApiAttacks.Attack attack) throws IOException {
        assertThat(ApiAttacks.exchange(endpoint.port(), attack.request()))
                .startsWith("HTTP/1.1 " + attack.status() + " ")
                .doesNotContain("\tat ", ApiAttacks.OPERATOR, ApiAttacks.READER, "<script>");
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
        "GET, /events?topic=orders, '', 400",
        "GET, /events?key=a&topic=a%00b, '', 400",
        "GET, /events?key=a&limit=1001, '', 400",
        "GET, /events?key=a&limit=1e3, '', 400",
        "GET, /events?key=a&since=yesterday, '', 400",
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
        "POST, /events/" + ID + ", OPERATOR, 405",
        "DELETE, /events/" + ID + ", OPERATOR, 405",
    })
    void refused(String method, String path, String who, int status) throws IOException {
        assertThat(exchange(method, path, who))
                .startsWith("HTTP/1.1 " + status + " ")
                .doesNotContain("\tat ", ApiAttacks.OPERATOR, ApiAttacks.READER);
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

    private String exchange(String method, String path, String who) throws IOException {
        String token = switch (who) {
            case "OPERATOR" -> ApiAttacks.OPERATOR;
            case "READER" -> ApiAttacks.READER;
            default -> "";
        };
        return ApiAttacks.exchange(endpoint.port(), ApiAttacks.request(method, path, token));
    }
}
