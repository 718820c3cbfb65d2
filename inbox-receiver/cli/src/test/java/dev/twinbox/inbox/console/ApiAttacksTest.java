package dev.twinbox.inbox.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.fixtures.ApiAttacks;
import dev.twinbox.jdbc.SqlIdentifier;
import java.io.IOException;
import java.sql.SQLException;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The attacks of {@link ApiAttacks} on the receiver's console, and those on what the relay does not have. */
class ApiAttacksTest {
    private static final String LONG = "x".repeat(513);

    private final AtomicInteger connections = new AtomicInteger();
    private ConsoleServer server;

    /** Anew for each attack: what comes too often is refused for that alone. */
    @BeforeEach
    void start() {
        ConsoleConfig config = ConsoleConfig.read(
                null,
                Map.of(),
                Map.of(
                        "twinbox.console.port",
                        "0",
                        "twinbox.console.operator-token",
                        ApiAttacks.OPERATOR,
                        "twinbox.console.reader-token",
                        ApiAttacks.READER,
                        "twinbox.inbox.kafka.bootstrap.servers",
                        "127.0.0.1:1"));
        server = new ConsoleServer(config, new InboxDatabase(new SqlIdentifier(null, "inbox_event"), () -> {
            connections.incrementAndGet();
            throw new SQLException("there is none", "08001", new IOException("refused"));
        }));
    }

    @AfterEach
    void stop() {
        server.close();
    }

    static Stream<ApiAttacks.Attack> attacks() {
        return ApiAttacks.all();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("attacks")
    void anAttackIsRefused(ApiAttacks.Attack attack) throws IOException {
        assertThat(ApiAttacks.exchange(server.port(), attack.request()))
                .startsWith("HTTP/1.1 " + attack.status() + " ")
                .doesNotContain("\tat ", ApiAttacks.OPERATOR, ApiAttacks.READER, "<script>");
        assertThat(connections).hasValue(0);
    }

    @ParameterizedTest(name = "{0} {1}")
    @CsvSource({
        "GET, /events/a%00b, 400",
        "GET, /events/a/b, 404",
        "GET, /events/a?limit=1, 400",
        "GET, /events?id=a%00b, 400",
        "GET, /events?id=&key=, 400",
        "GET, /events?key=a&topic=a%00b, 400",
        "GET, /handlers?topic=a, 400",
        "GET, /handlers/a, 404",
        "POST, /handlers, 405",
        "POST, /status, 405",
        "GET, /parked?handler=a%00b, 400",
        "GET, /parked?group=a&group=b, 400",
        "GET, /parked?state=dead, 400",
    })
    void refused(String method, String path, int status) throws IOException {
        assertThat(exchange(method, path))
                .startsWith("HTTP/1.1 " + status + " ")
                .doesNotContain("\tat ");
        assertThat(connections).hasValue(0);
    }

    @ParameterizedTest(name = "an id of 513 bytes {0}")
    @CsvSource({"/events/", "/events?id="})
    void anIdThatNoEventHasIsRefused(String path) throws IOException {
        assertThat(exchange("GET", path + LONG)).startsWith("HTTP/1.1 400 ");
    }

    /** The same requests without the fault reach the database. */
    @ParameterizedTest(name = "{0} {1}")
    @CsvSource({
        "GET, /events?key=a&limit=10&topic=b&since=PT1H",
        "GET, /events?id=a%2fb",
        "GET, /events/any-id",
        "GET, /handlers?group=a",
        "GET, /causes",
        "GET, /parked?state=DEAD&handler=a&group=b",
        "GET, /parked/1/payload",
        "POST, /parked/retry",
        "POST, /parked/discard",
    })
    void served(String method, String path) throws IOException {
        assertThat(exchange(method, path)).startsWith("HTTP/1.1 503 ").contains("there is none");
        assertThat(connections).hasValue(1);
    }

    /** What cannot be read is not known: the console itself is up. */
    @ParameterizedTest(name = "{0}")
    @CsvSource({"/status", "/openapi.json"})
    void upAllTheSame(String path) throws IOException {
        assertThat(exchange("GET", path)).startsWith("HTTP/1.1 200 ");
    }

    private String exchange(String method, String path) throws IOException {
        return ApiAttacks.exchange(server.port(), ApiAttacks.request(method, path, ApiAttacks.OPERATOR));
    }
}
