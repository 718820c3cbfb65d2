package dev.twinbox.inbox.console;

import dev.twinbox.console.Access;
import dev.twinbox.console.Api;
import dev.twinbox.console.WebAnswer;
import dev.twinbox.console.WebPages;
import dev.twinbox.console.WebServer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Serves the API of the receiver's side, and {@code /health/live}. Runs until closed, whatever is away. */
public final class ConsoleServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ConsoleServer.class);

    private final WebServer server;

    /**
     * Listens and serves from now on. Neither database nor Kafka is asked yet.
     *
     * @throws IllegalArgumentException if the address is not available
     */
    public ConsoleServer(ConsoleConfig config, InboxDatabase database) {
        Access access = config.address().access();
        Api api = ReceiverApi.of(database, config.kafka(), access);
        WebPages pages = new WebPages("console")
                .add("/health/live", () -> WebAnswer.of(200, "application/json", "{\"status\":\"UP\"}"));
        server = config.address()
                .start(
                        "console-http",
                        request -> api.owns(request.path()) ? api.answer(request) : pages.answer(request));
        LOG.info(
                "The console listens on {}:{}", config.address().http().host(), server.port());
    }

    public int port() {
        return server.port();
    }

    @Override
    public void close() {
        server.close();
    }
}
