package dev.twinbox.inbox;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** A remote service that counts its calls, and answers them once its gate is open. */
final class CustomerService implements AutoCloseable {

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final AtomicInteger calls = new AtomicInteger();
    private final HttpServer server;
    private volatile CountDownLatch gate = new CountDownLatch(1);
    private volatile int status = 200;

    CustomerService() {
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server.setExecutor(threads);
        server.createContext("/", this::answer);
        server.start();
    }

    private void answer(HttpExchange exchange) throws IOException {
        int call = calls.incrementAndGet();
        try {
            gate.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        byte[] body = ("answer " + call).getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    URI address() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    }

    int calls() {
        return calls.get();
    }

    void answerWith(int newStatus) {
        status = newStatus;
    }

    void open() {
        gate.countDown();
    }

    void shut() {
        gate = new CountDownLatch(1);
    }

    @Override
    public void close() {
        open();
        server.stop(0);
        threads.shutdownNow();
    }
}
