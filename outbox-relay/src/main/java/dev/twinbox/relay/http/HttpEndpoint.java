package dev.twinbox.relay.http;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.config.RelayException;
import dev.twinbox.relay.config.RelaySettings;
import dev.twinbox.thread.Supervisor;
import dev.twinbox.thread.WorkerPool;
import java.io.IOException;
import java.io.OutputStream;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves {@code /health/live}, {@code /health/ready} and {@code /metrics} to {@code GET} and {@code HEAD}; runs until
 * closed.
 *
 * <p>All other requests get an answer that says what is wrong and what is possible. Malformed requests get a 400, or
 * the connection is closed.
 */
public final class HttpEndpoint implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(HttpEndpoint.class);

    /** Time limit for a request, and for its answer. */
    private static final String TIMEOUT_SECONDS = "10";

    /**
     * Each request occupies a thread, so no request waits for a client that sends only half of one. Further connections
     * are closed.
     */
    private static final int MOST_CONNECTIONS = 100;

    private static final List<String> METHODS = List.of("GET", "HEAD");
    private static final String TEXT = "text/plain; charset=utf-8";
    private static final int LONGEST_ECHO = 200;

    private record Answer(int status, String type, String body) {}

    private final Map<String, Supplier<Answer>> pages = new LinkedHashMap<>();
    private final HttpServer server;
    private final WorkerPool threads;

    /**
     * Listens and serves from now on.
     *
     * @throws RelayException with {@link ExitCode#USAGE} if the address is not available
     */
    public HttpEndpoint(RelayConfig.Http http, Health health, Metrics metrics) {
        // Without these, the JDK's server waits forever for half a request, and accepts any number of connections.
        System.setProperty("sun.net.httpserver.maxReqTime", TIMEOUT_SECONDS);
        System.setProperty("sun.net.httpserver.maxRspTime", TIMEOUT_SECONDS);
        System.setProperty("jdk.httpserver.maxConnections", Integer.toString(MOST_CONNECTIONS));
        pages.put("/health/live", () -> answer(health.live()));
        pages.put("/health/ready", () -> answer(health.ready()));
        pages.put("/metrics", () -> new Answer(200, "text/plain; version=0.0.4; charset=utf-8", metrics.scrape()));
        server = bind(http);
        server.createContext("/", exchange -> send(exchange, answer(exchange)));
        threads = new WorkerPool(Supervisor.DAEMONS, "relay-http", MOST_CONNECTIONS);
        server.setExecutor(threads);
        server.start();
        LOG.info(
                "Health and metrics on http://{}:{}",
                http.host(),
                server.getAddress().getPort());
    }

    public int port() {
        return server.getAddress().getPort();
    }

    private static HttpServer bind(RelayConfig.Http http) {
        try {
            return HttpServer.create(new InetSocketAddress(InetAddress.getByName(http.host()), http.port()), 0);
        } catch (UnknownHostException e) {
            throw new RelayException(
                    ExitCode.USAGE,
                    RelaySettings.HTTP_HOST.key() + " = \"" + http.host()
                            + "\" is not an address of this host: correct it",
                    e);
        } catch (BindException e) {
            throw new RelayException(
                    ExitCode.USAGE,
                    "cannot listen on " + http.host() + ":" + http.port() + " (" + e.getMessage()
                            + "): stop what listens there, or set " + RelaySettings.HTTP_HOST.key() + " and "
                            + RelaySettings.HTTP_PORT.key(),
                    e);
        } catch (IOException e) {
            throw new RelayException(
                    ExitCode.USAGE,
                    "cannot listen on " + http.host() + ":" + http.port() + ", choose another: " + e.getMessage(),
                    e);
        }
    }

    private Answer answer(HttpExchange exchange) {
        String path = exchange.getRequestURI().getPath();
        Supplier<Answer> page = pages.get(path);
        if (page == null) {
            return new Answer(
                    404,
                    TEXT,
                    "There is nothing at " + shortened(exchange.getRequestURI().getRawPath()) + ": ask for "
                            + String.join(", ", pages.keySet()) + "\n");
        }
        if (!METHODS.contains(exchange.getRequestMethod())) {
            return new Answer(
                    405,
                    TEXT,
                    path + " can only be read, " + shortened(exchange.getRequestMethod()) + " is not possible: use "
                            + String.join(" or ", METHODS) + "\n");
        }
        try {
            return page.get();
        } catch (RuntimeException e) { // The JDK's server would close the connection without a message.
            LOG.error("{} cannot be answered; report it", path, e);
            return new Answer(500, TEXT, path + " cannot be answered, the relay's log says why\n");
        }
    }

    private static String shortened(String value) {
        return value.length() <= LONGEST_ECHO ? value : value.substring(0, LONGEST_ECHO) + "…";
    }

    private static Answer answer(Health.Report report) {
        int status = report.status() == Health.Status.UP ? 200 : 503;
        return new Answer(status, "application/json", report.json().toString());
    }

    private static void send(HttpExchange exchange, Answer answer) throws IOException {
        try (exchange) {
            byte[] body = answer.body().getBytes(StandardCharsets.UTF_8);
            Headers headers = exchange.getResponseHeaders();
            headers.set("Content-Type", answer.type());
            headers.set("Cache-Control", "no-store");
            headers.set("X-Content-Type-Options", "nosniff"); // The path is sent back as text and must stay text.
            if (answer.status() == 405) {
                headers.set("Allow", String.join(", ", METHODS));
            }
            if (exchange.getRequestMethod().equals("HEAD")) {
                headers.set("Content-Length", Integer.toString(body.length));
                exchange.sendResponseHeaders(answer.status(), -1);
                return;
            }
            exchange.sendResponseHeaders(answer.status(), body.length);
            try (OutputStream out = exchange.getResponseBody()) {
                out.write(body);
            }
        }
    }

    @Override
    public void close() {
        server.stop(0);
        threads.stop(Duration.ZERO);
    }
}
