package dev.twinbox.console;

import static org.assertj.core.api.Assertions.assertThat;

import jakarta.json.Json;
import jakarta.json.JsonObject;
import java.io.IOException;
import java.io.StringReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What somebody might try on the login of browsers, each as bytes on a socket. The server seems to listen on all
 * addresses, so that without a session nothing can be read either.
 */
class LoginAttacksTest {
    private static final String READER = "reader-token-0123456789";
    private static final String OPERATOR = "operator-token-0123456789";
    private static final String OWN = "Origin: http://localhost\r\nSec-Fetch-Site: same-origin\r\n";
    private static final String JSON = "Content-Type: application/json\r\n";
    private static final long HOUR = 3_600_000_000_000L;

    private final AtomicInteger changes = new AtomicInteger();
    private final AtomicLong clock = new AtomicLong();
    private final WebServer server = start();

    @AfterEach
    void close() {
        server.close();
    }

    @Test
    void aTokenIsExchangedForACookieThatScriptsAndOtherSitesCannotUse() throws IOException {
        String answer = login(OPERATOR, OWN);

        assertThat(answer).startsWith("HTTP/1.1 200 ").doesNotContain(OPERATOR);
        assertThat(json(answer).getString("role")).isEqualTo("operator");
        assertThat(setCookie(answer))
                .matches("twinbox-" + server.port()
                        + "=[\\w-]{43}; Path=/api/v1; Max-Age=28800; HttpOnly; SameSite=Strict");
        assertThat(exchange("GET", "/session", session(answer), "")).contains("\"operator\"");
        assertThat(exchange("POST", "/retry", session(answer) + OWN + JSON, "{}"))
                .startsWith("HTTP/1.1 200 ");
        assertThat(changes).hasValue(1);
    }

    @Test
    void behindTlsTheCookieIsSecureAndTheOriginIsHttps() throws IOException {
        String forwarded = "X-Forwarded-Proto: https\r\n";
        String answer = login(OPERATOR, forwarded + "Origin: https://localhost\r\n");

        assertThat(setCookie(answer)).endsWith("; HttpOnly; SameSite=Strict; Secure");
        assertThat(login(OPERATOR, forwarded + OWN)).as("the page before TLS").startsWith("HTTP/1.1 403 ");
        assertThat(login(OPERATOR, "Origin: https://localhost\r\n")).startsWith("HTTP/1.1 403 ");
    }

    /** {@code COOKIE} stands for the operator's session, {@code READS} for the reader's. */
    static Stream<Arguments> refused() {
        return Stream.of(
                // cross-site form post
                attack("a form that logs in", "POST /login", form("application/x-www-form-urlencoded"), 415),
                attack("a form of text that logs in", "POST /login", form("text/plain"), 415),
                attack("a login of another site", "POST /login", "Origin: http://evil.example\r\n" + JSON, 403),
                attack("a login of another port", "POST /login", "Origin: http://localhost:1\r\n" + JSON, 403),
                attack("a login of a same-site page", "POST /login", "Sec-Fetch-Site: same-site\r\n" + JSON, 403),
                attack("a login of a hidden page", "POST /login", "Origin: null\r\n" + JSON, 403),
                attack("a logout of another site", "POST /logout", "COOKIE" + "Origin: http://evil.example\r\n", 403),
                attack("a form that changes", "POST /retry", "COOKIE" + OWN + form("text/plain"), 415),
                attack("a change of another site", "POST /retry", "COOKIEOrigin: http://evil.example\r\n" + JSON, 403),
                attack("a change of another port", "POST /retry", "COOKIEOrigin: http://localhost:1\r\n" + JSON, 403),
                attack("a change without an origin", "POST /retry", "COOKIE" + JSON, 403),
                attack("reading by another port", "GET /things", "COOKIESec-Fetch-Site: same-site\r\n", 403),
                // what a session may not do
                attack("a change by the reader", "POST /retry", "READS" + OWN + JSON, 403),
                attack("a change by GET", "GET /retry", "COOKIE", 405),
                attack("a login by GET", "GET /login", OWN, 405),
                attack("a wrong token beside a session", "GET /things", "COOKIEAuthorization: Bearer x\r\n", 401),
                // forged cookies
                attack("no session", "GET /things", OWN, 401),
                attack("an empty cookie", "GET /things", "Cookie: NAME=\r\n", 401),
                attack("a guessed cookie", "GET /things", "Cookie: NAME=" + "A".repeat(43) + "\r\n", 401),
                attack("a role as cookie", "GET /things", "Cookie: NAME=operator\r\n", 401),
                attack("the token as cookie", "GET /things", "Cookie: NAME=" + OPERATOR + "\r\n", 401),
                attack("the cookie's beginning", "GET /things", "Cookie: NAME=HALF\r\n", 401),
                attack("the cookie and more", "GET /things", "Cookie: NAME=WHOLEA\r\n", 401),
                attack("its digest as cookie", "GET /things", "Cookie: NAME=DIGEST\r\n", 401),
                attack("the cookie of another port", "GET /things", "Cookie: twinbox-1=WHOLE\r\n", 401),
                attack("two cookies", "GET /things", "Cookie: NAME=A; NAME=WHOLE\r\n", 401),
                attack("a cookie in two headers", "GET /things", "Cookie: NAME=A\r\nCookie: NAME=WHOLE\r\n", 401),
                attack("the cookie in the address", "GET /things?NAME=WHOLE", "", 401),
                attack("a cookie as bearer", "GET /things", "Authorization: Bearer WHOLE\r\n", 401));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource
    void refused(String name, String request, String headers, int status) throws IOException {
        String operator = login(OPERATOR, OWN);
        String id = id(operator);
        String sent = headers.replace("COOKIE", session(operator))
                .replace("READS", session(login(READER, OWN)))
                .replace("WHOLE", id)
                .replace("HALF", id.substring(0, 20))
                .replace("DIGEST", Digests.text(id))
                .replace("NAME", "twinbox-" + server.port());
        String[] line = request.split(" ");
        String body = line[1].equals("/login") ? "{\"token\":\"" + OPERATOR + "\"}" : "{}";

        String answer = exchange(line[0], line[1].replace("WHOLE", id), sent, line[0].equals("POST") ? body : "");

        assertThat(answer).as(name).startsWith("HTTP/1.1 " + status + " ").doesNotContain(id, OPERATOR, "\tat ");
        assertThat(answer.toLowerCase()).doesNotContain("set-cookie", "access-control-allow");
        assertThat(changes).hasValue(0);
        assertThat(exchange("GET", "/session", session(operator), ""))
                .as("the session is none the worse")
                .startsWith("HTTP/1.1 200 ");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "{\"token\":null}",
                "{\"token\":1}",
                "{\"token\":[\"" + OPERATOR + "\"]}",
                "{\"token\":\"" + OPERATOR + "\",\"role\":\"operator\"}",
                "{\"token\":\"x\",\"token\":\"" + OPERATOR + "\"}",
                "[]",
                "token=" + OPERATOR
            })
    void aLoginOfAnotherShapeIsRefused(String body) throws IOException {
        assertThat(exchange("POST", "/login", OWN + JSON, body))
                .startsWith("HTTP/1.1 400 ")
                .doesNotContain("Set-Cookie", OPERATOR);
    }

    /** Session fixation: an id that somebody has planted in the browser becomes nobody's session. */
    @Test
    void aLoginNeverTakesAnIdThatTheBrowserHas() throws IOException {
        String planted = "Cookie: twinbox-" + server.port() + "=" + "A".repeat(43) + "\r\n";
        assertThat(id(login(OPERATOR, OWN + planted))).isNotEqualTo("A".repeat(43));
        assertThat(exchange("GET", "/things", planted, "")).startsWith("HTTP/1.1 401 ");

        String attackers = session(login(READER, OWN));
        String victims = login(OPERATOR, OWN + attackers);
        assertThat(session(victims)).isNotEqualTo(attackers);
        assertThat(exchange("GET", "/things", attackers, ""))
                .as("the session that was in the browser before")
                .startsWith("HTTP/1.1 401 ");
        assertThat(exchange("GET", "/things", session(victims), "")).startsWith("HTTP/1.1 200 ");
    }

    @Test
    void aSessionEndsWithItsTimeHoweverMuchItIsUsed() throws IOException {
        String session = session(login(OPERATOR, OWN));
        for (int hour = 0; hour < 7; hour++) {
            clock.addAndGet(HOUR);
            assertThat(exchange("GET", "/things", session, "")).startsWith("HTTP/1.1 200 ");
        }
        clock.addAndGet(HOUR);
        assertThat(exchange("GET", "/things", session, "")).startsWith("HTTP/1.1 401 ");
        assertThat(exchange("POST", "/retry", session + OWN + JSON, "{}")).startsWith("HTTP/1.1 401 ");
        assertThat(changes).hasValue(0);
    }

    @Test
    void aLogoutEndsTheSessionForWhoeverHasTheCookie() throws IOException {
        String session = session(login(OPERATOR, OWN));
        String answer = exchange("POST", "/logout", session + OWN + JSON, "{}");

        assertThat(answer).startsWith("HTTP/1.1 200 ");
        assertThat(setCookie(answer)).contains("=; ", "Max-Age=0");
        assertThat(exchange("GET", "/things", session, "")).startsWith("HTTP/1.1 401 ");
        assertThat(exchange("POST", "/logout", session + OWN + JSON, "{}"))
                .as("again")
                .startsWith("HTTP/1.1 200 ");
    }

    @Test
    void guessingATokenIsSlowedDownAndItsOwnerIsNot() throws IOException {
        int refused = 0;
        while (login("wrong", OWN).startsWith("HTTP/1.1 401 ")) {
            refused++;
        }
        assertThat(refused).as("wrong tokens that were answered").isBetween(3, 10);
        assertThat(login("wrong", OWN)).startsWith("HTTP/1.1 429 ").doesNotContain("Set-Cookie");
        assertThat(exchange("GET", "/things", "Authorization: Bearer wrong\r\n", ""))
                .as("by the other way in")
                .startsWith("HTTP/1.1 429 ");
        assertThat(login(OPERATOR, OWN)).startsWith("HTTP/1.1 200 ");
        int sent = 0;
        while (!login(OPERATOR, OWN).startsWith("HTTP/1.1 429 ")) {
            sent++;
        }
        assertThat(sent).as("logins in no time").isBetween(20, 60);
    }

    @Test
    void idsAreNeverTheSameAndOnlySoManyAreKept() {
        Sessions sessions = new Sessions(clock::get);
        String first = sessions.begin(Role.OPERATOR);
        Set<String> ids = new HashSet<>(Set.of(first));
        for (int i = 0; i < Sessions.MOST; i++) {
            assertThat(ids.add(sessions.begin(Role.READER))).isTrue();
        }
        assertThat(sessions.role(first)).isNull();
        assertThat(ids.stream().filter(id -> sessions.role(id) == Role.READER)).hasSize(Sessions.MOST);
    }

    private static String form(String type) {
        return "Content-Type: " + type + "\r\n";
    }

    private WebServer start() {
        Access access = new Access(false, Set.of(), READER, OPERATOR, clock::get);
        Api api = new Api("test", "/api/v1", access)
                .withLogin()
                .get("/things", Role.VISITOR, call -> JsonObject.EMPTY_JSON_OBJECT)
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

    private static Arguments attack(String name, String request, String headers, int status) {
        return Arguments.of(name, request, headers, status);
    }

    private String login(String token, String headers) throws IOException {
        return exchange("POST", "/login", headers + JSON, "{\"token\":\"" + token + "\"}");
    }

    private static String setCookie(String answer) {
        Matcher header = Pattern.compile("(?i)\r\nset-cookie: ([^\r]*)").matcher(answer);
        assertThat(header.find()).as(answer).isTrue();
        return header.group(1);
    }

    private static String id(String answer) {
        return setCookie(answer).replaceFirst("^[^=]*=", "").replaceFirst(";.*", "");
    }

    /** The header that a browser sends after this answer. */
    private static String session(String answer) {
        return "Cookie: " + setCookie(answer).replaceFirst(";.*", "") + "\r\n";
    }

    private String exchange(String method, String path, String headers, String body) throws IOException {
        String request = method + " /api/v1" + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + headers
                + "Content-Length: " + body.length() + "\r\n\r\n" + body;
        try (Socket client = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            client.setSoTimeout(60_000);
            client.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
            return new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static JsonObject json(String answer) {
        return Json.createReader(new StringReader(answer.substring(answer.indexOf("\r\n\r\n") + 4)))
                .readObject();
    }
}
