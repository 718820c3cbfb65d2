package dev.twinbox.relay.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.console.config.HttpConfig;
import dev.twinbox.relay.config.DeliveryMode;
import dev.twinbox.relay.engine.Progress;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * One mistake at a time, as bytes on a socket. Each gets an answer with the reason, or the connection is closed. The
 * next request is served.
 */
class WrongHttpRequestsTest {

    /** Long enough for a very slow machine. The endpoint itself closes the connection after ten seconds. */
    private static final int LIMIT_MILLIS = 120_000;

    private static final String HUNG_UP = "";

    private final AtomicBoolean clockBroken = new AtomicBoolean();
    private final Progress progress = new Progress(this::clock);
    private final Metrics metrics = new Metrics("relay", DeliveryMode.AT_LEAST_ONCE, progress);
    private final HttpEndpoint endpoint =
            new HttpEndpoint(new HttpConfig("127.0.0.1", 0), new Health(progress, Duration.ofSeconds(10)), metrics);

    private long clock() {
        if (clockBroken.get()) {
            throw new IllegalStateException("no time");
        }
        return System.nanoTime();
    }

    @AfterEach
    void theRelayGoesOnServing() throws IOException {
        try {
            assertThat(answer("GET /health/live HTTP/1.1")).startsWith("HTTP/1.1 200 ");
        } finally {
            endpoint.close();
            metrics.close();
        }
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            GET / HTTP/1.1 | There is nothing at /: ask for /health/live, /health/ready, /metrics
            GET /health HTTP/1.1 | There is nothing at /health: ask for
            GET /health/ HTTP/1.1 | There is nothing at /health/: ask for
            GET /health/ready/x HTTP/1.1 | There is nothing at /health/ready/x: ask for
            GET /metrics/ HTTP/1.1 | There is nothing at /metrics/: ask for
            GET /METRICS HTTP/1.1 | There is nothing at /METRICS: ask for
            GET /metrics;v=1 HTTP/1.1 | There is nothing at /metrics;v=1: ask for
            GET /favicon.ico?x=y HTTP/1.1 | There is nothing at /favicon.ico: ask for
            GET /metrics/../health/live HTTP/1.1 | There is nothing at /metrics/../health/live: ask for
            GET /..%2f..%2fetc%2fpasswd HTTP/1.1 | There is nothing at /..%2f..%2fetc%2fpasswd: ask for
            GET /a%0d%0aSet-Cookie:%20b=c HTTP/1.1 | There is nothing at /a%0d%0aSet-Cookie:%20b=c: ask for
            POST /metric HTTP/1.1 | There is nothing at /metric: ask for
            """)
    void anUnknownPathIsNotFoundAndTheKnownOnesAreNamed(String requestLine, String text) throws IOException {
        String answer = answer(requestLine);

        assertThat(answer).startsWith("HTTP/1.1 404 ").containsIgnoringCase("\r\nContent-Type: text/plain");
        assertThat(body(answer)).startsWith(text);
        assertThat(headers(answer)).doesNotContain("set-cookie");
    }

    @ParameterizedTest(name = "{0} {1}")
    @CsvSource({
        "POST, /metrics",
        "PUT, /metrics",
        "DELETE, /metrics",
        "PATCH, /health/ready",
        "OPTIONS, /health/ready",
        "TRACE, /health/live",
        "BREW, /health/live",
        "get, /health/live",
    })
    void anotherMethodIsRefusedAndTheLegalOnesAreNamed(String method, String path) throws IOException {
        String answer = answer(method + " " + path + " HTTP/1.1");

        assertThat(answer).startsWith("HTTP/1.1 405 ");
        assertThat(headers(answer)).contains("\r\nallow: get, head\r\n");
        assertThat(body(answer))
                .isEqualTo(path + " can only be read, " + method + " is not possible: use GET or HEAD\n");
    }

    /** A path above the root and a version of HTTP that is not spoken are refused, too. */
    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            GET /%zz HTTP/1.1 | 400
            GET /metrics?%zz HTTP/1.1 | 400
            GET /<script> HTTP/1.1 | 400
            GET /metrics | 400
            RUBBISH | 400
            {"json":true} | 400
            OPTIONS * HTTP/1.1 | 400
            PRI * HTTP/2.0 | 400
            GET  HTTP/1.1 | 400
            GET //metrics HTTP/1.1 | 404
            GET metrics HTTP/1.1 | 400
            GET mailto:relay HTTP/1.1 | 400
            GET /a b HTTP/1.1 | 400
            GET /metrics%00 HTTP/1.1 | 400
            GET /metrics HTTP/9.9 | 400
            GET /../../etc/passwd HTTP/1.1 | 400
            GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1 | 400
            """)
    void aRequestLineThatIsNoneIsRefused(String requestLine, String status) throws IOException {
        assertThat(answer(requestLine)).startsWith("HTTP/1.1 " + status + " ").doesNotContain("\tat ");
    }

    @Test
    void aTunnelIsHungUpOn() throws IOException {
        assertThat(answer("CONNECT example.com:443 HTTP/1.1")).isEqualTo(HUNG_UP);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            Content-Length: many | 400
            Content-Length: -1 | 400
            Content-Length: 99999999999999999999 | 400
            Content-Length: 1<CRLF>Content-Length: 2 | 400
            Content-Length: 5<CRLF>Transfer-Encoding: chunked | 400
            Transfer-Encoding: gzip | 400
            Host: a<CRLF>Host: b | 400
            Host: | 400
            A header: x | 400
            no colon | 400
            : no name | 400
            """)
    void aHeaderThatContradictsHttpIsRefused(String header, String status) throws IOException {
        assertThat(answer("GET /metrics HTTP/1.1", header.replace("<CRLF>", "\r\n")))
                .startsWith("HTTP/1.1 " + status + " ");
    }

    /** RFC 9112, section 3.2. What checks the name needs exactly one. */
    @Test
    void aRequestWithoutAHostIsRefused() throws IOException {
        assertThat(exchange("GET /metrics HTTP/1.1\r\nConnection: close\r\n\r\n"))
                .startsWith("HTTP/1.1 400 ");
    }

    /**
     * An orchestrator uses the address of a pod, and the answer is no secret. So a check of the name would protect
     * nothing.
     */
    @ParameterizedTest(name = "{0}")
    @ValueSource(
            strings = {
                "Host: evil.example",
                "X-Forwarded-Host: evil.example",
                "Accept: application/xml",
                "Authorization: Basic eA==",
                "Range: bytes=0-1",
                "If-None-Match: *",
            })
    void aHeaderThatSaysNothingHereIsLeftAside(String header) throws IOException {
        assertThat(answer("GET /metrics HTTP/1.1", header))
                .startsWith("HTTP/1.1 200 ")
                .contains("twinbox_relay_");
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(
            strings = {
                "GET /metrics HTTP/1.0",
                "GET /metrics?name=x HTTP/1.1",
                "GET /%6detrics HTTP/1.1",
                "GET http://example.com/metrics HTTP/1.1",
            })
    void anotherWayToWriteTheSameIsServed(String requestLine) throws IOException {
        assertThat(answer(requestLine)).startsWith("HTTP/1.1 200 ").contains("twinbox_relay_");
    }

    @Test
    void aBodyIsNotRead() throws IOException {
        String body = "x".repeat(1_000);
        assertThat(exchange(
                        "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 1000\r\n\r\n" + body))
                .startsWith("HTTP/1.1 200 ");
        assertThat(exchange("POST /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 1000\r\n\r\n"
                        + body))
                .startsWith("HTTP/1.1 405 ");
        assertThat(exchange(
                        "POST /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
                                + "3\r\nabc\r\n0\r\n\r\n"))
                .startsWith("HTTP/1.1 405 ");
        assertThat(exchange(
                        "POST /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
                                + "rubbish\r\n\r\n"))
                .startsWith("HTTP/1.1 405 ");
    }

    @Test
    void headIsAsGetWithoutTheBody() throws IOException {
        String get = answer("GET /nowhere HTTP/1.1");
        String head = answer("HEAD /nowhere HTTP/1.1");

        assertThat(head).startsWith("HTTP/1.1 404 ");
        assertThat(body(head)).isEmpty();
        assertThat(headers(head))
                .contains("\r\ncontent-length: " + body(get).length() + "\r\n")
                .contains("\r\ncontent-type: text/plain; charset=utf-8\r\n");
        assertThat(answer("HEAD /metrics HTTP/1.1")).startsWith("HTTP/1.1 200 ");
    }

    @Test
    void whatIsTooLongIsNotRepeatedInFullAndWhatIsFarTooLongIsHungUpOn() throws IOException {
        String longPath = body(answer("GET /" + "x".repeat(10_000) + " HTTP/1.1"));
        assertThat(longPath).startsWith("There is nothing at /xxx").contains("x…: ask for /health/live");
        assertThat(longPath.length()).isLessThan(400);
        assertThat(body(answer("X".repeat(10_000) + " /metrics HTTP/1.1")).length())
                .isLessThan(400);

        String[] headers =
                IntStream.range(0, 1_000).mapToObj(i -> "X-" + i + ": x").toArray(String[]::new);
        assertThat(answer("GET /metrics HTTP/1.1", headers)).isEqualTo(HUNG_UP);
        assertThat(answer("GET /" + "x".repeat(4_000_000) + " HTTP/1.1")).isEqualTo(HUNG_UP);
        assertThat(answer("GET /metrics HTTP/1.1", "X-A: " + "x".repeat(4_000_000)))
                .isEqualTo(HUNG_UP);
    }

    @Test
    void whatCannotBeAnsweredIsSaidAndNotHungUpOn() throws IOException {
        clockBroken.set(true);
        String answer = answer("GET /health/ready HTTP/1.1");
        clockBroken.set(false);

        assertThat(answer).startsWith("HTTP/1.1 500 ");
        assertThat(body(answer)).isEqualTo("/health/ready cannot be answered, the relay's log says why\n");
    }

    /** Half a request occupies a thread, and must not occupy that of another request. */
    @Test
    void clientsThatDoNotEndTheirRequestAreHungUpOnAndOthersAreServed() throws IOException {
        List<String> halves = List.of(
                "G",
                "GET /metrics HTTP/1.1",
                "GET /metrics HTTP/1.1\r\nHost: x\r\n",
                "GET /metrics HTTP/1.1\n\n",
                "\r\n\r\n\r\n",
                "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003", // a client that speaks TLS
                "POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nx",
                "POST /metrics HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab");
        List<Socket> clients = new ArrayList<>();
        try {
            for (int i = 0; i < 24; i++) {
                Socket client = connect();
                clients.add(client);
                client.getOutputStream().write(halves.get(i % halves.size()).getBytes(StandardCharsets.ISO_8859_1));
            }
            clients.add(connect()); // sends nothing

            assertThat(answer("GET /health/live HTTP/1.1")).startsWith("HTTP/1.1 200 ");
            for (Socket client : clients) {
                assertThat(readToEnd(client)).doesNotContain("HTTP/1.1 200");
            }
        } finally {
            for (Socket client : clients) {
                client.close();
            }
        }
    }

    /** With a host, unless the headers have one. */
    private String answer(String requestLine, String... headers) throws IOException {
        String more = String.join("\r\n", headers);
        return exchange(
                requestLine + "\r\nConnection: close\r\n" + (more.startsWith("Host:") ? "" : "Host: 127.0.0.1\r\n")
                        + (more.isEmpty() ? "" : more + "\r\n") + "\r\n");
    }

    private String exchange(String request) throws IOException {
        try (Socket client = connect()) {
            try {
                client.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
            } catch (SocketException e) {
                // The connection was closed before the client had sent everything.
            }
            return readToEnd(client);
        }
    }

    private Socket connect() throws IOException {
        Socket client = new Socket(InetAddress.getLoopbackAddress(), endpoint.port());
        client.setSoTimeout(LIMIT_MILLIS);
        return client;
    }

    /** @throws java.net.SocketTimeoutException if the server does not close the connection */
    private static String readToEnd(Socket client) throws IOException {
        ByteArrayOutputStream answer = new ByteArrayOutputStream();
        try {
            client.getInputStream().transferTo(answer);
        } catch (SocketException e) {
            // A reset closes the connection as well.
        }
        return answer.toString(StandardCharsets.UTF_8);
    }

    private static String headers(String answer) {
        return answer.substring(0, answer.indexOf("\r\n\r\n") + 2).toLowerCase(Locale.ROOT);
    }

    private static String body(String answer) {
        return answer.substring(answer.indexOf("\r\n\r\n") + 4);
    }
}
