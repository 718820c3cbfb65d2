package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import dev.twinbox.inbox.app.CustomerLookup;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What single flight does, and what it does not, with a remote service that counts its calls. */
class SingleFlightTest {

    private static final int LANES = 8;

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final AtomicInteger calls = new AtomicInteger();
    private final CountDownLatch gate = new CountDownLatch(1);
    private volatile int status = 200;
    private HttpServer service;
    private URI address;

    @BeforeEach
    void start() throws IOException {
        service = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        service.setExecutor(threads);
        service.createContext("/", exchange -> {
            int call = calls.incrementAndGet();
            try {
                gate.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            byte[] body = ("answer " + call).getBytes(java.nio.charset.StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(status, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        service.start();
        address = URI.create("http://127.0.0.1:" + service.getAddress().getPort());
    }

    @AfterEach
    void stop() {
        gate.countDown();
        service.stop(0);
        threads.shutdownNow();
    }

    @Test
    void equalCallsOfSeveralLanesAreOne() {
        CustomerLookup lookup = lookup(Duration.ofMinutes(1));
        CountDownLatch asked = new CountDownLatch(LANES);

        List<CompletableFuture<String>> answers = lanes(lookup, "42", asked);
        awaitCalls(1);
        gate.countDown();

        assertThat(answers).extracting(CompletableFuture::join).containsOnly("answer 1");
        assertThat(calls).hasValue(1);
    }

    @Test
    void callsForOtherCustomersDoNotWait() {
        CustomerLookup lookup = lookup(Duration.ofMinutes(1));

        CompletableFuture<String> one = CompletableFuture.supplyAsync(() -> lookup.customer("1"), threads);
        CompletableFuture<String> two = CompletableFuture.supplyAsync(() -> lookup.customer("2"), threads);
        awaitCalls(2);
        gate.countDown();

        assertThat(one.join()).isNotEqualTo(two.join());
    }

    @Test
    void aFailureIsThatOfAllWhoWaitAndIsNotKept() {
        CustomerLookup lookup = lookup(Duration.ofMinutes(1));
        status = 503;
        List<CompletableFuture<String>> answers = lanes(lookup, "42", new CountDownLatch(LANES));
        awaitCalls(1);
        gate.countDown();

        assertThat(answers)
                .allSatisfy(
                        answer -> assertThatThrownBy(answer::join).hasStackTraceContaining("customer service: 503"));
        int failed = calls.get();
        status = 200;
        // The cache drops the failure on another thread.
        await().ignoreExceptions()
                .untilAsserted(() -> assertThat(lookup.customer("42")).isEqualTo("answer " + (failed + 1)));
    }

    /** Another instance of the application has a cache of its own. */
    @Test
    void otherInstancesCallForThemselves() {
        gate.countDown();

        assertThat(lookup(Duration.ofMinutes(1)).customer("42")).isEqualTo("answer 1");
        assertThat(lookup(Duration.ofMinutes(1)).customer("42")).isEqualTo("answer 2");
    }

    private CustomerLookup lookup(Duration freshness) {
        return new CustomerLookup(address, threads, freshness);
    }

    private List<CompletableFuture<String>> lanes(CustomerLookup lookup, String id, CountDownLatch asked) {
        List<CompletableFuture<String>> answers = IntStream.range(0, LANES)
                .mapToObj(lane -> CompletableFuture.supplyAsync(
                        () -> {
                            asked.countDown();
                            return lookup.customer(id);
                        },
                        threads))
                .toList();
        await().until(() -> asked.getCount() == 0);
        return answers;
    }

    private void awaitCalls(int expected) {
        await().until(() -> calls.get() >= expected);
    }
}
