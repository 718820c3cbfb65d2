package dev.twinbox.console;

import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.eclipse.jetty.http.HttpCompliance;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpMethod;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.http.UriCompliance;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.NetworkConnectionLimit;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.component.LifeCycle;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/**
 * Serves pages over HTTP/1.1 until closed. Bounded are the size of a request's header, the time for a request and for
 * its answer, and the number of connections and threads.
 */
public final class WebServer implements AutoCloseable {

    /** Time limit for a request, and for its answer. */
    private static final Duration TIME = Duration.ofSeconds(10);

    /** Further ones wait until one of these is closed. */
    private static final int MOST_CONNECTIONS = 100;

    /** One for each connection, one that accepts and one that selects. */
    private static final int MOST_THREADS = MOST_CONNECTIONS + 2;

    private static final int LEAST_THREADS = 4;

    private static final int HEADER_BYTES = 16 * 1024;

    private static final int MOST_HEADERS = 200;

    private final Server server;
    private final ServerConnector connector;

    private WebServer(InetSocketAddress address, String threads, WebPage page, Duration time) {
        QueuedThreadPool pool = new QueuedThreadPool(MOST_THREADS, LEAST_THREADS);
        pool.setName(threads);
        pool.setDaemon(true);
        pool.setReservedThreads(0);
        server = new Server(pool);
        server.setStopTimeout(0);
        server.setErrorHandler(new Refusals());
        connector = new ServerConnector(server, 1, 1, new HttpConnectionFactory(configuration()));
        connector.setHost(address.getAddress().getHostAddress());
        connector.setPort(address.getPort());
        connector.setIdleTimeout(TIME.toMillis());
        connector.addBean(new NetworkConnectionLimit(MOST_CONNECTIONS, connector));
        TimeLimit limit = new TimeLimit(connector.getScheduler(), time);
        connector.addBean(limit);
        server.addConnector(connector);
        server.addEventListener(new LifeCycle.Listener() {
            @Override
            public void lifeCycleStarted(LifeCycle started) {
                limit.start();
            }
        });
        server.setHandler(new Pages(page, limit));
    }

    /**
     * Listens and serves from now on.
     *
     * @param threads name of the threads
     * @throws IOException if the address is not available
     */
    public static WebServer start(InetSocketAddress address, String threads, WebPage page) throws IOException {
        return start(address, threads, page, TIME);
    }

    /** @param time for a request, and for its answer */
    static WebServer start(InetSocketAddress address, String threads, WebPage page, Duration time) throws IOException {
        WebServer started = new WebServer(address, threads, page, time);
        try {
            started.connector.open();
            started.server.start();
            return started;
        } catch (IOException e) {
            started.close();
            throw e.getCause() instanceof BindException reason ? reason : e;
        } catch (Exception e) {
            started.close();
            throw new IllegalStateException("the HTTP server does not start; report it", e);
        }
    }

    public int port() {
        return connector.getLocalPort();
    }

    private static HttpConfiguration configuration() {
        HttpConfiguration configuration = new HttpConfiguration();
        configuration.setSendServerVersion(false);
        configuration.setRequestHeaderSize(HEADER_BYTES);
        // A client that names another host in its address than in its header is served: the name is not looked at here.
        configuration.setHttpCompliance(
                HttpCompliance.RFC9110.with("two-names", HttpCompliance.Violation.MISMATCHED_AUTHORITY));
        // Paths are compared, never resolved: an ambiguous one is not found.
        configuration.setUriCompliance(UriCompliance.DEFAULT.with(
                "compared",
                UriCompliance.Violation.AMBIGUOUS_PATH_SEGMENT,
                UriCompliance.Violation.AMBIGUOUS_EMPTY_SEGMENT,
                UriCompliance.Violation.AMBIGUOUS_PATH_SEPARATOR,
                UriCompliance.Violation.AMBIGUOUS_PATH_PARAMETER,
                UriCompliance.Violation.AMBIGUOUS_PATH_ENCODING,
                UriCompliance.Violation.SUSPICIOUS_PATH_CHARACTERS,
                UriCompliance.Violation.ILLEGAL_PATH_CHARACTERS));
        return configuration;
    }

    private static final class Pages extends Handler.Abstract {
        private final WebPage page;
        private final TimeLimit limit;

        private Pages(WebPage page, TimeLimit limit) {
            this.page = page;
            this.limit = limit;
        }

        @Override
        public boolean handle(Request request, Response response, Callback callback) {
            Connection connection = request.getConnectionMetaData().getConnection();
            WebExchange exchange = new WebExchange(request, response, callback);
            if (request.getHeaders().size() > MOST_HEADERS || HttpMethod.CONNECT.is(request.getMethod())) {
                exchange.hangUp();
                return true;
            }
            WebRequest asked = WebRequest.of(request, () -> limit.requestEnded(connection));
            if (asked == null) {
                Response.writeError(request, response, callback, HttpStatus.BAD_REQUEST_400);
                return true;
            }
            if (request.getLength() <= 0 && !request.getHeaders().contains(HttpHeader.TRANSFER_ENCODING)) {
                limit.requestEnded(connection);
            }
            WebAnswer answer = page.answer(asked);
            limit.answerBegins(connection);
            exchange.send(answer, () -> limit.answerEnded(connection));
            return true;
        }
    }

    @Override
    public void close() {
        try {
            server.stop();
        } catch (Exception e) {
            throw new IllegalStateException("the HTTP server does not stop; report it", e);
        }
    }
}
