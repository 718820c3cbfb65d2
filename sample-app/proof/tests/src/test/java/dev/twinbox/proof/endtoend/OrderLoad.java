package dev.twinbox.proof.endtoend;

import static org.awaitility.Awaitility.await;

import dev.twinbox.proof.landscape.OrdersClient;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/**
 * Clients that place orders in parallel, as many as are allowed. Some orders are rolled back. Some customers get so
 * many orders that these wait for each other's row lock. A failed call is repeated: only the database knows whether it
 * committed.
 */
final class OrderLoad implements AutoCloseable {

    private static final int CLIENTS = 8;
    private static final int ORDERS_PER_CALL = 25;
    private static final int BUSY_CUSTOMERS = 5;

    private final OrdersClient orders;
    private final ExecutorService threads = Executors.newFixedThreadPool(CLIENTS);
    private final List<Future<?>> clients;
    private final AtomicInteger declined = new AtomicInteger();

    // Numbers of calls, guarded by this.
    private int allowed;
    private int begun;
    private boolean complete;

    OrderLoad(OrdersClient orders) {
        this.orders = orders;
        clients = IntStream.range(0, CLIENTS)
                .<Future<?>>mapToObj(client -> threads.submit(() -> run(new Random(client))))
                .toList();
    }

    /** Allows this many orders in total. */
    synchronized void allow(int total) {
        allowed = total / ORDERS_PER_CALL;
        notifyAll();
    }

    /** How many orders were rolled back. */
    int declined() {
        return declined.get();
    }

    /** Waits until all allowed orders are placed. Nothing can be allowed afterwards. */
    void awaitEnd() throws InterruptedException, ExecutionException, TimeoutException {
        complete();
        for (Future<?> client : clients) {
            client.get(5, TimeUnit.MINUTES);
        }
    }

    private synchronized void complete() {
        complete = true;
        notifyAll();
    }

    private Void run(Random random) throws InterruptedException {
        while (beginCall()) {
            placeUntilItWorks(random);
        }
        return null;
    }

    /** Waits until one more call is allowed. False: there will be none. */
    private synchronized boolean beginCall() throws InterruptedException {
        while (begun == allowed && !complete) {
            wait();
        }
        if (begun == allowed) {
            return false;
        }
        begun++;
        return true;
    }

    private void placeUntilItWorks(Random random) {
        await("a call that works")
                .atMost(Duration.ofMinutes(3))
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(200))
                .ignoreExceptions()
                .until(() -> {
                    place(random);
                    return true;
                });
    }

    private void place(Random random) {
        if (random.nextInt(10) == 0) {
            orders.placeDeclined();
            declined.incrementAndGet();
        }
        if (random.nextInt(4) == 0) {
            orders.place(ORDERS_PER_CALL, 1 + random.nextInt(BUSY_CUSTOMERS));
        } else {
            orders.place(ORDERS_PER_CALL);
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
