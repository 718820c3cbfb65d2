package dev.twinbox.inbox.console;

import dev.twinbox.console.Access;
import dev.twinbox.console.Api;
import dev.twinbox.console.WebAnswer;
import dev.twinbox.console.WebFiles;
import dev.twinbox.console.WebPage;
import dev.twinbox.console.WebPages;
import dev.twinbox.console.WebServer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Serves the API of the receiver's side, its pages and {@code /health/live}. Runs until closed, whatever is away. */
public final class ConsoleServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ConsoleServer.class);

    /** Of the pages. */
    public static final String PATH = "/console";

    private final WebServer server;

    /**
     * Listens and serves from now on. Neither database nor Kafka is asked yet.
     *
     * @throws IllegalArgumentException if the address is not available
     */
    public ConsoleServer(ConsoleConfig config, InboxDatabase database) {
        Access access = config.address().access();
        Api api = ReceiverApi.of(database, config, access);
        WebFiles files =
                new WebFiles("console", PATH, access).add(ConsoleServer.class, "main.js", "overview.js", "paused.js");
        WebPages pages = new WebPages("console")
                .add("/health/live", () -> WebAnswer.of(200, "application/json", "{\"status\":\"UP\"}"));
        server = config.address().start("console-http", request -> {
            WebPage page = api.owns(request.path()) ? api : files.owns(request.path()) ? files : pages;
            return page.answer(request);
        });
        LOG.info("The console listens on {}:{}", config.address().http().host(), server.port());
    }

    public int port() {
        return server.port();
    }

    @Override
    public void close() {
        server.close();
    }
}
