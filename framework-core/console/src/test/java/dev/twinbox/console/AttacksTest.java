package dev.twinbox.console;

import static org.assertj.core.api.Assertions.assertThat;

import jakarta.json.Json;
import jakarta.json.JsonObject;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.StringReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What somebody might try on the API, each as bytes on a socket: the answer, and that nothing was changed and no payload
 * left the host. The same requests with the right token are served.
 */
class AttacksTest {
    private static final String READER = "reader-token-0123456789";
    private static final String OPERATOR = "operator-token-0123456789";
    private static final String SECRET = "the payload";
    private static final String MARKUP = "<script>alert(1)</script>";
    private static final int LIMIT_MILLIS = 60_000;

    /** Where the server seems to listen. It always listens on loopback, for this is a test. */
    enum Listens {
        LOOPBACK,
        EVERYWHERE
    }

    private final AtomicInteger changes = new AtomicInteger();
    private final AtomicLong clock = new AtomicLong();
    private WebServer server = start(Listens.LOOPBACK, READER, OPERATOR);

    @AfterEach
    void close() {
        server.close();
    }

    static Stream<Arguments> refused() {
        return Stream.of(
                // tokens
                attack("change without a token", Listens.LOOPBACK, post("/retry", "", "{}"), 403),
                attack("payload without a token", Listens.LOOPBACK, get("/things/1/payload", ""), 403),
                attack("reading without a token from elsewhere", Listens.EVERYWHERE, get("/things", ""), 401),
                attack("change without a token from elsewhere", Listens.EVERYWHERE, post("/retry", "", "{}"), 401),
                attack("change with the reader's token", Listens.LOOPBACK, post("/retry", bearer(READER), "{}"), 403),
                attack("a wrong token", Listens.LOOPBACK, get("/things", bearer("wrong")), 401),
                attack("a wrong token for a change", Listens.LOOPBACK, post("/retry", bearer("wrong"), "{}"), 401),
                attack("an empty token", Listens.LOOPBACK, get("/things", "Authorization: Bearer \r\n"), 401),
                attack("the beginning of the token", Listens.LOOPBACK, get("/things", bearer("operator-token")), 401),
                attack("the token and more", Listens.LOOPBACK, get("/things", bearer(OPERATOR + "0")), 401),
                attack("two tokens", Listens.LOOPBACK, get("/things", bearer("wrong") + bearer(OPERATOR)), 401),
                attack(
                        "another scheme",
                        Listens.LOOPBACK,
                        get("/things", "Authorization: Basic " + OPERATOR + "\r\n"),
                        401),
                attack("the token in the address", Listens.EVERYWHERE, get("/things?token=" + OPERATOR, ""), 401),
                attack(
                        "the token as cookie",
                        Listens.EVERYWHERE,
                        get("/things", "Cookie: token=" + OPERATOR + "\r\n"),
                        401),
                // a proxy before it
                attack("forwarded", Listens.LOOPBACK, get("/things", "Forwarded: for=192.0.2.1\r\n"), 401),
                attack(
                        "forwarded, the older way",
                        Listens.LOOPBACK,
                        get("/things", "X-Forwarded-For: 127.0.0.1\r\n"),
                        401),
                attack("forwarded for https", Listens.LOOPBACK, get("/things", "X-Forwarded-Proto: https\r\n"), 401),
                attack("forwarded by nginx", Listens.LOOPBACK, get("/things", "X-Real-IP: 127.0.0.1\r\n"), 401),
                attack("by a proxy that says so", Listens.LOOPBACK, get("/things", "Via: 1.1 proxy\r\n"), 401),
                // rebinding
                attack("another host", Listens.LOOPBACK, raw("GET", "/things", "evil.example", "", ""), 421),
                attack(
                        "another host with the port",
                        Listens.LOOPBACK,
                        raw("GET", "/things", "evil.example:8480", "", ""),
                        421),
                attack(
                        "a host that begins like ours",
                        Listens.LOOPBACK,
                        raw("GET", "/things", "localhost.evil.example", "", ""),
                        421),
                attack(
                        "a user in the host",
                        Listens.LOOPBACK,
                        raw("GET", "/things", "localhost@evil.example", "", ""),
                        400),
                attack(
                        "the address of loopback in another form",
                        Listens.LOOPBACK,
                        raw("GET", "/things", "2130706433", "", ""),
                        421),
                attack(
                        "another host with the token",
                        Listens.EVERYWHERE,
                        raw("GET", "/things", "evil.example", bearer(OPERATOR), ""),
                        421),
                attack(
                        "another host in the address",
                        Listens.LOOPBACK,
                        "GET http://evil.example/api/v1/things HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
                        421),
                attack(
                        "our host in the address only",
                        Listens.LOOPBACK,
                        "GET http://localhost/api/v1/things HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
                        421),
                attack(
                        "two hosts",
                        Listens.LOOPBACK,
                        raw("GET", "/things", "localhost\r\nHost: evil.example", "", ""),
                        400),
                attack("no host", Listens.LOOPBACK, "GET /api/v1/things HTTP/1.1\r\nConnection: close\r\n\r\n", 400),
                // other sites
                attack("another origin", Listens.LOOPBACK, get("/things", "Origin: http://evil.example\r\n"), 403),
                attack("no origin's name", Listens.LOOPBACK, get("/things", "Origin: null\r\n"), 403),
                attack(
                        "another port's origin",
                        Listens.LOOPBACK,
                        get("/things", "Origin: http://localhost:1\r\n"),
                        403),
                attack(
                        "another origin with the token",
                        Listens.LOOPBACK,
                        post("/retry", bearer(OPERATOR) + "Origin: http://evil.example\r\n", "{}"),
                        403),
                attack("a cross-site request", Listens.LOOPBACK, get("/things", "Sec-Fetch-Site: cross-site\r\n"), 403),
                attack("a same-site request", Listens.LOOPBACK, get("/things", "Sec-Fetch-Site: same-site\r\n"), 403),
                attack(
                        "a preflight",
                        Listens.LOOPBACK,
                        raw(
                                "OPTIONS",
                                "/retry",
                                "localhost",
                                "Origin: http://evil.example\r\nAccess-Control-Request-Method: POST\r\n",
                                ""),
                        403),
                attack("a form", Listens.LOOPBACK, form("application/x-www-form-urlencoded", "all=true"), 415),
                attack("a form of text", Listens.LOOPBACK, form("text/plain", "{\"all\":true}"), 415),
                attack("a form with a file", Listens.LOOPBACK, form("multipart/form-data; boundary=x", "--x--"), 415),
                attack(
                        "no content type",
                        Listens.LOOPBACK,
                        raw("POST", "/retry", "localhost", bearer(OPERATOR) + "Content-Length: 2\r\n", "{}"),
                        415),
                // methods
                attack("a change by GET", Listens.LOOPBACK, get("/retry", bearer(OPERATOR)), 405),
                attack(
                        "a change by HEAD",
                        Listens.LOOPBACK,
                        raw("HEAD", "/retry", "localhost", bearer(OPERATOR), ""),
                        405),
                attack(
                        "a change by PUT",
                        Listens.LOOPBACK,
                        raw("PUT", "/retry", "localhost", bearer(OPERATOR), ""),
                        405),
                attack(
                        "a method in another header",
                        Listens.LOOPBACK,
                        get("/retry", bearer(OPERATOR) + "X-HTTP-Method-Override: POST\r\n"),
                        405),
                attack("TRACE", Listens.LOOPBACK, raw("TRACE", "/things", "localhost", bearer(OPERATOR), ""), 405),
                // bodies
                attack(
                        "a huge body",
                        Listens.LOOPBACK,
                        post("/retry", bearer(OPERATOR), "{\"key\":\"" + "x".repeat(70_000) + "\"}"),
                        413),
                attack(
                        "a body said to be huge",
                        Listens.LOOPBACK,
                        raw(
                                "POST",
                                "/retry",
                                "localhost",
                                bearer(OPERATOR) + "Content-Type: application/json\r\nContent-Length: 9000000000\r\n",
                                "{"),
                        413),
                attack(
                        "a huge body in chunks",
                        Listens.LOOPBACK,
                        raw(
                                "POST",
                                "/retry",
                                "localhost",
                                bearer(OPERATOR) + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n",
                                "11170\r\n" + "x".repeat(70_000) + "\r\n0\r\n\r\n"),
                        413),
                attack(
                        "a compressed body",
                        Listens.LOOPBACK,
                        post("/retry", bearer(OPERATOR) + "Content-Encoding: gzip\r\n", "{}"),
                        415),
                attack("no JSON", Listens.LOOPBACK, post("/retry", bearer(OPERATOR), "all=true"), 400),
                attack("a list", Listens.LOOPBACK, post("/retry", bearer(OPERATOR), "[]"), 400),
                attack(
                        "a member twice",
                        Listens.LOOPBACK,
                        post("/retry", bearer(OPERATOR), "{\"dryRun\":true,\"dryRun\":false}"),
                        400),
                attack(
                        "a member twice, written otherwise",
                        Listens.LOOPBACK,
                        post("/retry", bearer(OPERATOR), "{\"dryRun\":true,\"dry\\u0052un\":false}"),
                        400),
                attack(
                        "a member twice, further inside",
                        Listens.LOOPBACK,
                        post("/retry", bearer(OPERATOR), "{\"numbers\":[{\"a\":1,\"a\":2}]}"),
                        400),
                attack("more than one document", Listens.LOOPBACK, post("/retry", bearer(OPERATOR), "{}{}"), 400),
                attack(
                        "deep JSON",
                        Listens.LOOPBACK,
                        post("/retry", bearer(OPERATOR), "{\"a\":" + "[".repeat(30_000)),
                        400),
                attack("no UTF-8", Listens.LOOPBACK, post("/retry", bearer(OPERATOR), "{\"a\":\"\u00ff\"}"), 400),
                attack(
                        "parameters of a change in the address",
                        Listens.LOOPBACK,
                        post("/retry?all=true", bearer(OPERATOR), "{}"),
                        400),
                // paths
                attack("a path above", Listens.LOOPBACK, get("/../../etc/passwd", bearer(OPERATOR)), 404),
                attack(
                        "a path above the root",
                        Listens.LOOPBACK,
                        get("/../../../../etc/passwd", bearer(OPERATOR)),
                        400),
                attack(
                        "an encoded path above",
                        Listens.LOOPBACK,
                        get("/%2e%2e/%2e%2e/etc/passwd", bearer(OPERATOR)),
                        404),
                attack("an encoded slash", Listens.LOOPBACK, get("/things%2f1%2fpayload", ""), 403),
                attack("a double slash", Listens.LOOPBACK, get("//things", ""), 404),
                attack("a path parameter", Listens.LOOPBACK, get("/things;x=y", ""), 404),
                attack("a zero byte", Listens.LOOPBACK, get("/things%00", ""), 400),
                attack("a line break", Listens.LOOPBACK, get("/things%0d%0aSet-Cookie:%20a=b", ""), 404),
                attack("no number", Listens.LOOPBACK, get("/things/1'--/payload", bearer(READER)), 404),
                attack(
                        "a number that is too large",
                        Listens.LOOPBACK,
                        get("/things/99999999999999999999/payload", bearer(READER)),
                        404),
                attack("a parameter twice", Listens.LOOPBACK, get("/things?key=a&key=b", ""), 400),
                attack("markup in the path", Listens.LOOPBACK, get("/%3Cscript%3Ealert(1)%3C/script%3E", ""), 404));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource
    void refused(String name, Listens listens, String request, int status) throws IOException {
        listen(listens, READER, OPERATOR);

        String answer = exchange(request);

        assertThat(answer).as("answer to %s", name).startsWith("HTTP/1.1 " + status + " ");
        assertThat(changes).hasValue(0);
        assertThat(answer).doesNotContain(SECRET, OPERATOR, READER, "\tat ", MARKUP);
        assertThat(headers(answer))
                .contains("\r\ncache-control: no-store\r\n", "\r\nx-content-type-options: nosniff\r\n")
                .doesNotContain("access-control-allow", "set-cookie", "\r\nserver:");
    }

    static Stream<Arguments> served() {
        return Stream.of(
                attack("reading on loopback", Listens.LOOPBACK, get("/things", ""), 200),
                attack("by address", Listens.LOOPBACK, raw("GET", "/things", "127.0.0.1:1", "", ""), 200),
                attack("by IPv6", Listens.LOOPBACK, raw("GET", "/things", "[::1]:1", "", ""), 200),
                attack("by a configured name", Listens.LOOPBACK, raw("GET", "/things", "Relay.Example", "", ""), 200),
                attack(
                        "by its own page",
                        Listens.LOOPBACK,
                        get("/things", "Origin: http://localhost\r\nSec-Fetch-Site: same-origin\r\n"),
                        200),
                attack("reader", Listens.EVERYWHERE, get("/things", bearer(READER)), 200),
                attack(
                        "reader behind a proxy",
                        Listens.LOOPBACK,
                        get("/things", bearer(READER) + "X-Forwarded-For: 192.0.2.1\r\n"),
                        200),
                attack("payload", Listens.EVERYWHERE, get("/things/1/payload", bearer(READER)), 200),
                attack("payload for the operator", Listens.LOOPBACK, get("/things/1/payload", bearer(OPERATOR)), 200));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource
    void served(String name, Listens listens, String request, int status) throws IOException {
        listen(listens, READER, OPERATOR);

        String answer = exchange(request);

        assertThat(answer).as("answer to %s", name).startsWith("HTTP/1.1 " + status + " ");
        assertThat(changes).hasValue(0);
    }

    @Test
    void theOperatorChanges() throws IOException {
        assertThat(exchange(post("/retry", bearer(OPERATOR), "{\"all\":true}"))).startsWith("HTTP/1.1 200 ");
        assertThat(exchange(post("/retry", bearer(OPERATOR), "{\"all\":true}")
                        .replace("application/json", "application/JSON; charset=utf-8")))
                .startsWith("HTTP/1.1 200 ");
        assertThat(changes).hasValue(2);
    }

    @Test
    void withoutATokenInTheConfigurationNobodyIsTheOperator() throws IOException {
        listen(Listens.LOOPBACK, null, null);
        for (String token : new String[] {"", "null", OPERATOR}) {
            assertThat(exchange(post("/retry", bearer(token), "{}"))).startsWith("HTTP/1.1 401 ");
        }
        assertThat(exchange(post("/retry", "", "{}"))).startsWith("HTTP/1.1 403 ");
        listen(Listens.EVERYWHERE, null, null);
        assertThat(exchange(get("/things", bearer("")))).startsWith("HTTP/1.1 401 ");
        assertThat(changes).hasValue(0);
    }

    @Test
    void refusalsAreProblemDetails() throws IOException {
        String answer = exchange(get("/things", bearer("wrong")));

        assertThat(headers(answer))
                .contains("\r\ncontent-type: application/problem+json\r\n", "\r\nwww-authenticate: bearer\r\n");
        JsonObject problem = json(answer);
        assertThat(problem.getString("type")).isEqualTo("about:blank");
        assertThat(problem.getString("title")).isEqualTo("Unauthorized");
        assertThat(problem.getInt("status")).isEqualTo(401);
        assertThat(problem.getString("detail")).isEqualTo("The token is wrong");
    }

    @Test
    void wrongTokensAndFloodsAreSlowedDownAndTheRightTokenIsNot() throws IOException {
        int refused = 0;
        while (!exchange(get("/things", bearer("wrong"))).startsWith("HTTP/1.1 429 ")) {
            refused++;
        }
        assertThat(refused).as("wrong tokens that were answered").isBetween(3, 10);
        assertThat(exchange(get("/things", bearer(OPERATOR)))).startsWith("HTTP/1.1 200 ");

        int served = 0;
        while (!exchange(get("/things", "")).startsWith("HTTP/1.1 429 ")) {
            served++;
        }
        assertThat(served).as("requests that were served in no time").isBetween(30, 60);
        clock.addAndGet(2_000_000_000L);
        assertThat(exchange(get("/things", ""))).startsWith("HTTP/1.1 200 ");
    }

    /** Text of an event stays text: JSON, which no browser takes for a page. */
    @Test
    void markupInAnEventComesAsJson() throws IOException {
        String answer = exchange(get("/things?key=" + "%3Cscript%3Ealert(1)%3C/script%3E", ""));

        assertThat(headers(answer)).contains("\r\ncontent-type: application/json\r\n", "nosniff");
        assertThat(json(answer).getString("key")).isEqualTo(MARKUP);
    }

    private void listen(Listens listens, String reader, String operator) {
        server.close();
        server = start(listens, reader, operator);
    }

    private WebServer start(Listens listens, String reader, String operator) {
        Access access = new Access(listens == Listens.LOOPBACK, Set.of("relay.example"), reader, operator, clock::get);
        Api api = new Api("test", "/api/v1", access)
                .get(
                        "/things",
                        Role.VISITOR,
                        call -> Json.createObjectBuilder()
                                .add("key", call.query().getOrDefault("key", ""))
                                .build())
                .get(
                        "/things/{number}/payload",
                        Role.READER,
                        call -> Json.createObjectBuilder()
                                .add("number", call.number("number"))
                                .add("payload", SECRET)
                                .build())
                .post(
                        "/retry",
                        call -> Json.createObjectBuilder()
                                .add("retried", changes.incrementAndGet())
                                .build());
        try {
            return WebServer.start(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), "test", api);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Arguments attack(String name, Listens listens, String request, int status) {
        return Arguments.of(name, listens, request, status);
    }

    private static String bearer(String token) {
        return "Authorization: Bearer " + token + "\r\n";
    }

    private static String get(String path, String headers) {
        return raw("GET", path, "localhost", headers, "");
    }

    private static String post(String path, String headers, String body) {
        return raw(
                "POST",
                path,
                "localhost",
                headers + "Content-Type: application/json\r\nContent-Length: " + body.length() + "\r\n",
                body);
    }

    private static String form(String type, String body) {
        return raw(
                "POST",
                "/retry",
                "localhost",
                bearer(OPERATOR) + "Content-Type: " + type + "\r\nContent-Length: " + body.length() + "\r\n",
                body);
    }

    private static String raw(String method, String path, String host, String headers, String body) {
        return method + " /api/v1" + path + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n" + headers
                + "\r\n" + body;
    }

    private String exchange(String request) throws IOException {
        ByteArrayOutputStream answer = new ByteArrayOutputStream();
        try (Socket client = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            client.setSoTimeout(LIMIT_MILLIS);
            try {
                client.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
                client.getInputStream().transferTo(answer);
            } catch (SocketException e) {
                client.getInputStream().transferTo(answer);
            }
        } catch (SocketException e) {
            // The reset of a connection that was closed before it had read all.
        }
        return answer.toString(StandardCharsets.UTF_8);
    }

    private static JsonObject json(String answer) {
        return Json.createReader(new StringReader(answer.substring(answer.indexOf("\r\n\r\n") + 4)))
                .readObject();
    }

    private static String headers(String answer) {
        return answer.substring(0, answer.indexOf("\r\n\r\n") + 2).toLowerCase(Locale.ROOT);
    }
}
