package dev.twinbox.inbox.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A server under load ends a connection while a status is read. What may be repeated is repeated, over plain HTTP/1.1.
 */
class Fault36RepeatedRequestTest {

    private final List<String> requests = new CopyOnWriteArrayList<>();
    private ServerSocket server;

    @BeforeEach
    void listen() throws IOException {
        server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
        Thread thread = new Thread(this::serve, "closing-server");
        thread.setDaemon(true);
        thread.start();
    }

    /**
     * Ends the first connection in the middle of the answer, and answers all others. If it ended before the answer, Java's
     * client itself would ask again.
     */
    private void serve() {
        while (!server.isClosed()) {
            try (Socket connection = server.accept()) {
                byte[] request = new byte[8192];
                int length = connection.getInputStream().read(request);
                requests.add(new String(request, 0, Math.max(0, length), StandardCharsets.ISO_8859_1));
                String answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n"
                        + (requests.size() == 1 ? "o" : "ok");
                connection.getOutputStream().write(answer.getBytes(StandardCharsets.ISO_8859_1));
            } catch (IOException e) {
                // the test is over
            }
        }
    }

    @AfterEach
    void close() throws IOException {
        server.close();
    }

    @Test
    void aStatusIsReadAgainAndWithoutAnUpgradeToHttp2() {
        assertThat(Requests.get(uri("/status"), () -> true).body()).isEqualTo("ok");
        assertThat(requests)
                .hasSize(2)
                .allSatisfy(request ->
                        assertThat(request).startsWith("GET /status HTTP/1.1").doesNotContain("h2c"));
    }

    private URI uri(String path) {
        return URI.create("http://127.0.0.1:" + server.getLocalPort() + path);
    }
}
