package dev.twinbox.sample.demo;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import jakarta.json.bind.Jsonb;
import jakarta.json.bind.JsonbBuilder;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Serves the page, its state and its actions, on 127.0.0.1. */
final class PageServer implements AutoCloseable {

    private static final String ACTIONS = "/api/actions/";

    private static final String TEXT = "text/plain; charset=utf-8";

    /** The only files. No file is looked up by a name from a request. */
    private static final Map<String, PageFile> FILES = Map.of(
            "/", new PageFile("index.html", "text/html; charset=utf-8"),
            "/demo.css", new PageFile("demo.css", "text/css; charset=utf-8"),
            "/demo.js", new PageFile("demo.js", "text/javascript; charset=utf-8"),
            "/icon.svg", new PageFile("icon.svg", "image/svg+xml"));

    private record PageFile(String name, String type) {}

    private final HttpServer http;
    private final ExecutorService threads = Executors.newFixedThreadPool(4, task -> new Thread(task, "page"));
    private final Jsonb jsonb = JsonbBuilder.create();
    private final int port;

    /**
     * Starts to serve.
     *
     * @param state called whenever a page asks for the state
     * @param actions starts an action and returns
     * @throws IOException if the port cannot be listened on
     */
    PageServer(int port, Supplier<PageState> state, Consumer<Action> actions) throws IOException {
        this.port = port;
        http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        http.setExecutor(threads);
        http.createContext("/", this::serveFile);
        http.createContext("/api/state", exchange -> serveState(exchange, state.get()));
        http.createContext(ACTIONS, exchange -> serveAction(exchange, actions));
        http.start();
    }

    /** The address for a browser. */
    String address() {
        return "http://127.0.0.1:" + port + "/";
    }

    private void serveFile(HttpExchange exchange) throws IOException {
        PageFile file = FILES.get(exchange.getRequestURI().getPath());
        if (file == null) {
            refuse(exchange, 404, "Not found");
            return;
        }
        try (InputStream content = PageServer.class.getResourceAsStream("page/" + file.name())) {
            if (content == null) {
                throw new IllegalStateException("page/" + file.name() + " is missing from the jar");
            }
            answer(exchange, 200, file.type(), content.readAllBytes());
        }
    }

    private void serveState(HttpExchange exchange, PageState state) throws IOException {
        answer(exchange, 200, "application/json", jsonb.toJson(state).getBytes(StandardCharsets.UTF_8));
    }

    private void serveAction(HttpExchange exchange, Consumer<Action> actions) throws IOException {
        if (!exchange.getRequestMethod().equals("POST")) {
            refuse(exchange, 405, "Start an action with POST");
            return;
        }
        if (!comesFromPage(exchange)) {
            refuse(exchange, 403, "Only the page of the demo may start actions");
            return;
        }
        String label = exchange.getRequestURI().getPath().substring(ACTIONS.length());
        Optional<Action> action = Action.labelled(label);
        if (action.isEmpty()) {
            refuse(exchange, 404, "Unknown action. Known actions: " + Action.labels());
            return;
        }
        actions.accept(action.get());
        answer(exchange, 202, "application/json", "{}".getBytes(StandardCharsets.UTF_8));
    }

    private static void refuse(HttpExchange exchange, int status, String why) throws IOException {
        answer(exchange, status, TEXT, why.getBytes(StandardCharsets.UTF_8));
    }

    /** Other sites cannot set this header. The host is checked against names that were made to point to 127.0.0.1. */
    private boolean comesFromPage(HttpExchange exchange) {
        String host = exchange.getRequestHeaders().getFirst("Host");
        return exchange.getRequestHeaders().containsKey("X-Twinbox-Demo")
                && (("127.0.0.1:" + port).equals(host) || ("localhost:" + port).equals(host));
    }

    private static void answer(HttpExchange exchange, int status, String type, byte[] body) throws IOException {
        try (exchange) {
            exchange.getResponseHeaders().set("Content-Type", type);
            exchange.getResponseHeaders().set("Cache-Control", "no-store");
            exchange.getResponseHeaders().set("X-Content-Type-Options", "nosniff");
            exchange.getResponseHeaders().set("Content-Security-Policy", "default-src 'self'; frame-ancestors 'none'");
            exchange.sendResponseHeaders(status, body.length);
            exchange.getResponseBody().write(body);
        }
    }

    @Override
    public void close() {
        http.stop(0);
        threads.shutdownNow();
    }
}
