package dev.twinbox.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The limits of the server, on a socket. */
@Timeout(120)
class WebServerTest {

    /** Shorter than the ten seconds after which Jetty itself closes a connection on which nothing happens. */
    private static final Duration TIME = Duration.ofSeconds(2);

    private static final int DRIP_MILLIS = 200;
    private static final int MOST_DROPS = 150;
    private static final int LIMIT_MILLIS = 60_000;

    private final WebPages pages = new WebPages("test")
            .add("/page", () -> WebAnswer.text(200, "here"))
            .add("/large", () -> WebAnswer.text(200, "x".repeat(50_000_000)));

    @Test
    void aClientThatSendsAByteNowAndThenIsHungUpOn() throws IOException {
        try (WebServer server = start(pages);
                Socket client = connect(server)) {
            client.setSoTimeout(DRIP_MILLIS);
            write(client, "GET /page HTTP/1.1\r\nHost: x\r\nX-Slow: ");
            long begin = System.nanoTime();

            int drops = 0;
            while (drops < MOST_DROPS && isOpen(client)) {
                drops++;
            }

            assertThat(drops)
                    .as("bytes sent until the server closed the connection")
                    .isBetween(2, MOST_DROPS - 1);
            assertThat(Duration.ofNanos(System.nanoTime() - begin))
                    .as("time until the server closed the connection")
                    .isGreaterThan(Duration.ofSeconds(1));
        }
    }

    @Test
    void aClientThatReadsAByteNowAndThenIsHungUpOn() throws IOException {
        try (WebServer server = start(pages);
                Socket client = new Socket()) {
            client.setReceiveBufferSize(1_024);
            client.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port()));
            client.setSoTimeout(LIMIT_MILLIS);
            write(client, "GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
            Socket other = connect(server);
            other.setSoTimeout(DRIP_MILLIS);

            long read = 0;
            InputStream in = client.getInputStream();
            for (int i = 0; i < 40; i++) {
                read += in.read(new byte[64]);
                waitALittle(other);
            }
            try {
                read += in.transferTo(java.io.OutputStream.nullOutputStream());
            } catch (SocketException e) {
                // The reset of a closed connection.
            }
            assertThat(read).as("bytes of 50,000,000 that were received").isLessThan(50_000_000);
        }
    }

    @Test
    void aConnectionServesManyRequestsAlsoAfterAPauseAndAnAnswerThatTookLong() throws Exception {
        CountDownLatch longerThanTheLimit = new CountDownLatch(1);
        pages.add("/slow", () -> {
            awaitNothing(longerThanTheLimit, TIME.multipliedBy(2));
            return WebAnswer.text(200, "slow");
        });
        try (WebServer server = start(pages);
                Socket client = connect(server)) {
            for (String path : List.of("/page", "/slow", "/page")) {
                write(client, "GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n");
                assertThat(readHeader(client)).startsWith("HTTP/1.1 200 ");
                client.getInputStream().readNBytes(5);
                client.setSoTimeout((int) TIME.multipliedBy(2).toMillis());
                assertThatThrownBy(() -> client.getInputStream().read())
                        .as("nothing is closed while nothing is sent")
                        .isInstanceOf(SocketTimeoutException.class);
                client.setSoTimeout(LIMIT_MILLIS);
            }
        }
    }

    @Test
    void aHundredConnectionsAreKeptAndTheNextIsServedWhenOneIsGone() throws IOException {
        List<Socket> clients = new ArrayList<>();
        try (WebServer server = WebServer.start(loopback(), "test", pages)) {
            for (int i = 0; i < 100; i++) {
                clients.add(connect(server));
                write(clients.get(i), "GET /page HTTP/1.1\r\nHost: x\r\n\r\n");
                readHeader(clients.get(i));
            }
            Socket next = connect(server);
            clients.add(next);
            write(next, "GET /page HTTP/1.1\r\nHost: x\r\n\r\n");
            next.setSoTimeout(1_000);
            assertThatThrownBy(() -> next.getInputStream().read()).isInstanceOf(SocketTimeoutException.class);

            next.setSoTimeout(LIMIT_MILLIS);
            clients.get(0).close();
            assertThat(readHeader(next)).startsWith("HTTP/1.1 200 ");
        } finally {
            for (Socket client : clients) {
                client.close();
            }
        }
    }

    @Test
    void aPortInUseIsABindException() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), taken.getLocalPort());
            assertThatThrownBy(() -> WebServer.start(address, "test", pages)).isInstanceOf(BindException.class);
        }
    }

    /** Sends one byte, unless the server has closed the connection. */
    private static boolean isOpen(Socket client) throws IOException {
        try {
            if (client.getInputStream().read() < 0) {
                return false;
            }
            throw new AssertionError("there was an answer");
        } catch (SocketTimeoutException stillOpen) {
            try {
                write(client, "x");
                return true;
            } catch (SocketException closed) {
                return false;
            }
        } catch (SocketException reset) {
            return false;
        }
    }

    private static void waitALittle(Socket silent) throws IOException {
        try {
            silent.getInputStream().read();
        } catch (SocketTimeoutException e) {
            // as long as it should take
        }
    }

    private static void awaitNothing(CountDownLatch never, Duration time) {
        try {
            assertThat(never.await(time.toMillis(), java.util.concurrent.TimeUnit.MILLISECONDS))
                    .isFalse();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static WebServer start(WebPage page) throws IOException {
        return WebServer.start(loopback(), "test", page, TIME);
    }

    private static InetSocketAddress loopback() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    }

    private static Socket connect(WebServer server) throws IOException {
        Socket client = new Socket(InetAddress.getLoopbackAddress(), server.port());
        client.setSoTimeout(LIMIT_MILLIS);
        return client;
    }

    private static void write(Socket client, String text) throws IOException {
        client.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    /** Up to the empty line. */
    private static String readHeader(Socket client) throws IOException {
        StringBuilder header = new StringBuilder();
        while (header.indexOf("\r\n\r\n") < 0) {
            int next = client.getInputStream().read();
            if (next < 0) {
                break;
            }
            header.append((char) next);
        }
        return header.toString();
    }
}
