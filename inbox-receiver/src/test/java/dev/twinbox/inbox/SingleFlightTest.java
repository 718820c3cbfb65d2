package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.twinbox.inbox.app.CustomerLookup;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What single flight does, and what it does not, with a remote service that counts its calls. */
class SingleFlightTest {

    private static final int LANES = 8;

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final CustomerService service = new CustomerService();

    @AfterEach
    void stop() {
        service.close();
        threads.shutdownNow();
    }

    @Test
    void equalCallsOfSeveralLanesAreOne() {
        CustomerLookup lookup = lookup(Duration.ofMinutes(1));
        CountDownLatch asked = new CountDownLatch(LANES);

        List<CompletableFuture<String>> answers = lanes(lookup, "42", asked);
        awaitCalls(1);
        service.open();

        assertThat(answers).extracting(CompletableFuture::join).containsOnly("answer 1");
        assertThat(service.calls()).isEqualTo(1);
    }

    @Test
    void callsForOtherCustomersDoNotWait() {
        CustomerLookup lookup = lookup(Duration.ofMinutes(1));

        CompletableFuture<String> one = CompletableFuture.supplyAsync(() -> lookup.customer("1"), threads);
        CompletableFuture<String> two = CompletableFuture.supplyAsync(() -> lookup.customer("2"), threads);
        awaitCalls(2);
        service.open();

        assertThat(one.join()).isNotEqualTo(two.join());
    }

    @Test
    void aFailureIsThatOfAllWhoWaitAndIsNotKept() {
        CustomerLookup lookup = lookup(Duration.ofMinutes(1));
        service.answerWith(503);
        List<CompletableFuture<String>> answers = lanes(lookup, "42", new CountDownLatch(LANES));
        awaitCalls(1);
        service.open();

        assertThat(answers)
                .allSatisfy(
                        answer -> assertThatThrownBy(answer::join).hasStackTraceContaining("customer service: 503"));
        int failed = service.calls();
        service.answerWith(200);
        // The cache drops the failure on another thread.
        await().ignoreExceptions()
                .untilAsserted(() -> assertThat(lookup.customer("42")).isEqualTo("answer " + (failed + 1)));
    }

    /** Another instance of the application has a cache of its own. */
    @Test
    void otherInstancesCallForThemselves() {
        service.open();

        assertThat(lookup(Duration.ofMinutes(1)).customer("42")).isEqualTo("answer 1");
        assertThat(lookup(Duration.ofMinutes(1)).customer("42")).isEqualTo("answer 2");
    }

    private CustomerLookup lookup(Duration freshness) {
        return new CustomerLookup(service.address(), threads, freshness);
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
        await().until(() -> service.calls() >= expected);
    }
}
