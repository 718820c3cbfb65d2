package dev.twinbox.relay;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Serves {@code /health/live}, {@code /health/ready} and {@code /metrics}; runs until closed. */
final class HttpEndpoint implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(HttpEndpoint.class);
    private static final int THREADS = 2;

    private record Answer(int status, String type, String body) {}

    private final HttpServer server;
    private final ExecutorService threads;

    /** @throws RelayException with {@link ExitCode#USAGE} if the address cannot be had */
    HttpEndpoint(RelayConfig.Http http, Health health, Metrics metrics) {
        // The JDK's server waits for ever on a client that sends half a request; two such would make the relay look
        // dead.
        System.setProperty("sun.net.httpserver.maxReqTime", "10");
        System.setProperty("sun.net.httpserver.maxRspTime", "10");
        server = bind(http);
        serve("/health/live", () -> answer(health.live()));
        serve("/health/ready", () -> answer(health.ready()));
        serve("/metrics", () -> new Answer(200, "text/plain; version=0.0.4; charset=utf-8", metrics.scrape()));
        server.createContext(
                "/",
                exchange ->
                        send(exchange, new Answer(404, "text/plain", "try /health/live, /health/ready or /metrics\n")));
        threads = Executors.newFixedThreadPool(THREADS, task -> {
            Thread thread = new Thread(task, "relay-http");
            thread.setDaemon(true);
            return thread;
        });
        server.setExecutor(threads);
        server.start();
        LOG.info(
                "Health and metrics on http://{}:{}",
                http.host(),
                server.getAddress().getPort());
    }

    int port() {
        return server.getAddress().getPort();
    }

    private static HttpServer bind(RelayConfig.Http http) {
        try {
            return HttpServer.create(new InetSocketAddress(InetAddress.getByName(http.host()), http.port()), 0);
        } catch (UnknownHostException e) {
            throw new RelayException(
                    ExitCode.USAGE,
                    RelaySettings.HTTP_HOST.key() + " = \"" + http.host() + "\" is not an address of this host",
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
                    ExitCode.USAGE, "cannot listen on " + http.host() + ":" + http.port() + ": " + e.getMessage(), e);
        }
    }

    private void serve(String path, Supplier<Answer> answer) {
        server.createContext(path, exchange -> {
            if (!exchange.getRequestURI().getPath().equals(path)) {
                send(exchange, new Answer(404, "text/plain", "not found\n"));
            } else if (!exchange.getRequestMethod().matches("GET|HEAD")) {
                send(exchange, new Answer(405, "text/plain", "GET only\n"));
            } else {
                send(exchange, answer.get());
            }
        });
    }

    private static Answer answer(Health.Report report) {
        int status = report.status() == Health.Status.UP ? 200 : 503;
        return new Answer(status, "application/json", report.json().toString());
    }

    private static void send(HttpExchange exchange, Answer answer) throws IOException {
        try (exchange) {
            byte[] body = answer.body().getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", answer.type());
            if (exchange.getRequestMethod().equals("HEAD")) {
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
        threads.shutdownNow();
    }
}
