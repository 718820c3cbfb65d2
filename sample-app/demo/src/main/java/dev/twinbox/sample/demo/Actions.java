package dev.twinbox.sample.demo;

import dev.twinbox.proof.landscape.OrdersClient;
import dev.twinbox.proof.landscape.Part;
import dev.twinbox.proof.landscape.Supervisor;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

/** Runs the actions of the page's buttons. Of each action at most one runs at a time. */
final class Actions {

    static final int THOUSAND = 1000;
    private static final int CLIENTS = 4;

    private final Supervisor supervisor;
    private final OrdersClient orders;
    private final Repeater repeater;
    private final Journal journal;
    private final ExecutorService threads = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "action");
        thread.setDaemon(true);
        return thread;
    });
    private final Set<Action> running = EnumSet.noneOf(Action.class);
    private final AtomicLong rolledBack = new AtomicLong();

    Actions(Supervisor supervisor, Repeater repeater, Journal journal) {
        this.supervisor = supervisor;
        this.repeater = repeater;
        this.journal = journal;
        orders = new OrdersClient(supervisor.landscape().uri(Part.PRODUCER));
    }

    /** Starts an action and returns. If it runs already, nothing happens. */
    void begin(Action action) {
        synchronized (running) {
            if (!running.add(action)) {
                return;
            }
        }
        threads.execute(() -> run(action));
    }

    /** The actions that are running now. */
    List<String> running() {
        synchronized (running) {
            return running.stream().map(Action::label).toList();
        }
    }

    /** How many orders were rolled back. */
    long rolledBack() {
        return rolledBack.get();
    }

    private void run(Action action) {
        try {
            perform(action);
        } catch (RuntimeException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            journal.write(action.label() + " failed: " + cause.getMessage());
        } finally {
            synchronized (running) {
                running.remove(action);
            }
        }
    }

    /** Runs an action and returns when it has been done. A restart goes on afterwards. */
    void perform(Action action) {
        switch (action) {
            case PLACE_ONE -> placeOne();
            case PLACE_THOUSAND -> placeThousand();
            case ROLL_BACK -> rollBack();
            case KILL_RELAY -> supervisor.server(Part.RELAY_1).kill();
            case KILL_RECEIVER -> supervisor.server(Part.RECEIVER_1).kill();
            case RESTART_KAFKA -> supervisor.server(Part.BROKER_1).restart();
            case SEND_DUPLICATES -> sendDuplicates();
        }
    }

    private void placeOne() {
        orders.place(1);
        journal.write("1 order placed");
    }

    private void placeThousand() {
        List<CompletableFuture<Void>> clients = IntStream.range(0, CLIENTS)
                .mapToObj(client -> CompletableFuture.runAsync(() -> orders.place(THOUSAND / CLIENTS), threads))
                .toList();
        CompletableFuture.allOf(clients.toArray(CompletableFuture<?>[]::new)).join();
        journal.write("1,000 orders placed by " + CLIENTS + " clients, each in its own transaction");
    }

    private void rollBack() {
        orders.placeDeclined();
        rolledBack.incrementAndGet();
        journal.write("1 order placed and its event published, then the payment was declined: both were rolled back");
    }

    private void sendDuplicates() {
        int sent = repeater.repeat();
        journal.write(
                sent == 0
                        ? "There are no records to repeat yet: place an order first"
                        : sent + " records sent to Kafka again, with the same event ids");
    }
}
