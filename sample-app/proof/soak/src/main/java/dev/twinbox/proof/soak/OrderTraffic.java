package dev.twinbox.proof.soak;

import dev.twinbox.proof.landscape.OrdersClient;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Clients of the orders service. Some orders are rolled back. Some customers get so many orders that these wait for
 * each other's row lock. A call without an answer may have committed, so it is not counted: the database knows.
 */
final class OrderTraffic implements AutoCloseable {

    private static final int CLIENTS = 4;
    private static final int MOST_ORDERS_PER_CALL = 30;
    private static final int BUSY_CUSTOMERS = 5;
    private static final long PAUSE_AFTER_FAILURE_NANOS = 200_000_000;

    private final OrdersClient orders;
    private final double nanosPerOrder;
    private final Workers clients;
    private final AtomicLong placed = new AtomicLong();
    private final AtomicLong declined = new AtomicLong();
    private final AtomicLong unanswered = new AtomicLong();

    /** @param perSecond how many orders all clients place together, if the service answers */
    OrderTraffic(URI orders, long seed, int perSecond) {
        this.orders = new OrdersClient(orders);
        nanosPerOrder = 1e9 * CLIENTS / perSecond;
        clients = new Workers("client", CLIENTS, seed, this::run);
    }

    void start() {
        clients.start();
    }

    private void run(Random random) {
        long begun = System.nanoTime();
        try {
            int count = place(random);
            placed.addAndGet(count);
            // Orders that an outage prevented are not made up for.
            clients.pause((long) (count * nanosPerOrder) - (System.nanoTime() - begun));
        } catch (UncheckedIOException | IllegalStateException e) {
            unanswered.incrementAndGet();
            clients.pause(PAUSE_AFTER_FAILURE_NANOS);
        }
    }

    private int place(Random random) {
        if (random.nextInt(8) == 0) {
            orders.placeDeclined();
            declined.incrementAndGet();
        }
        int count = 1 + random.nextInt(MOST_ORDERS_PER_CALL);
        if (random.nextInt(4) == 0) {
            orders.place(count, 1 + random.nextInt(BUSY_CUSTOMERS));
        } else {
            orders.place(count);
        }
        return count;
    }

    /** Orders of calls that were answered. */
    long placed() {
        return placed.get();
    }

    /** Orders that were rolled back. */
    long declined() {
        return declined.get();
    }

    /** Calls that failed or got no answer. */
    long unanswered() {
        return unanswered.get();
    }

    /** Returns when the last call has ended, answered or not. */
    @Override
    public void close() {
        clients.close();
    }
}
