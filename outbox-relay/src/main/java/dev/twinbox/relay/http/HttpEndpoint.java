package dev.twinbox.relay.http;

import dev.twinbox.console.Access;
import dev.twinbox.console.Api;
import dev.twinbox.console.WebAnswer;
import dev.twinbox.console.WebFiles;
import dev.twinbox.console.WebPage;
import dev.twinbox.console.WebPages;
import dev.twinbox.console.WebServer;
import dev.twinbox.console.config.HttpAddress;
import dev.twinbox.console.config.HttpConfig;
import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.config.RelayException;
import dev.twinbox.relay.config.RelaySettings;
import java.util.List;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves {@code /health/live}, {@code /health/ready} and {@code /metrics} to {@code GET} and {@code HEAD}. Serves
 * {@link OperatorApi} and its pages if there is a token. Runs until closed.
 *
 * <p>All other requests get an answer that says what is wrong and what is possible. Malformed requests get a 400, or
 * the connection is closed.
 */
public final class HttpEndpoint implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(HttpEndpoint.class);

    /** What is served below a path of its own. */
    private record Part(Predicate<String> owns, WebPage page) {}

    private final WebServer server;

    /**
     * Listens and serves from now on.
     *
     * @throws RelayException with {@link ExitCode#USAGE} if the address is not available
     */
    public HttpEndpoint(RelayConfig config, Health health, Metrics metrics) {
        this(address(config.http()), health, metrics, operations(config, health));
    }

    /** Without the API. */
    HttpEndpoint(HttpConfig http, Health health, Metrics metrics) {
        this(address(http), health, metrics, List.of());
    }

    private HttpEndpoint(HttpAddress address, Health health, Metrics metrics, List<Part> operations) {
        WebPages pages = new WebPages("relay")
                .add("/health/live", () -> answer(health.live()))
                .add("/health/ready", () -> answer(health.ready()))
                .add("/metrics", () -> WebAnswer.of(200, "text/plain; version=0.0.4; charset=utf-8", metrics.scrape()));
        server = start(
                address,
                request -> operations.stream()
                        .filter(part -> part.owns().test(request.path()))
                        .map(Part::page)
                        .findFirst()
                        .orElse(pages)
                        .answer(request));
        LOG.info("Health and metrics on {}", address.url(server.port()));
    }

    private static HttpAddress address(HttpConfig http) {
        return new HttpAddress(http, RelaySettings.HTTP);
    }

    /**
     * Empty unless an operator wants the API, and says so by a token. On an address that others reach, tokens would cross
     * the network unencrypted. An operator has to want that, too.
     */
    private static List<Part> operations(RelayConfig config, Health health) {
        HttpConfig http = config.http();
        HttpAddress address = address(http);
        if (!http.hasToken()) {
            if (http.isInsecure() || !http.names().isEmpty()) {
                LOG.warn(
                        "The API is not served, because it has no token: set {}",
                        RelaySettings.HTTP.operatorToken().key());
            }
            return List.of();
        }
        if (!address.isLoopback() && !http.isInsecure()) {
            LOG.info(
                    "The API is not served on {}, because nothing is encrypted; {}=true serves it",
                    http.host(),
                    RelaySettings.HTTP.insecure().key());
            return List.of();
        }
        Access access = address.access();
        Api api = OperatorApi.of(config, access, health);
        WebFiles pages = new WebFiles("relay", "/console", access)
                .add(HttpEndpoint.class, "main.js", "overview.js", "topics.js");
        return List.of(new Part(api::owns, api), new Part(pages::owns, pages));
    }

    public int port() {
        return server.port();
    }

    private static WebServer start(HttpAddress address, WebPage page) {
        try {
            return address.start("relay-http", page);
        } catch (IllegalArgumentException e) {
            throw new RelayException(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
        }
    }

    private static WebAnswer answer(Health.Report report) {
        int status = report.status() == Health.Status.UP ? 200 : 503;
        return WebAnswer.of(status, "application/json", report.json().toString());
    }

    @Override
    public void close() {
        server.close();
    }
}
