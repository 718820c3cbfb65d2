package dev.twinbox.sample.demo;

import dev.twinbox.proof.landscape.Landscape;
import dev.twinbox.proof.landscape.Part;
import dev.twinbox.proof.ledger.OrderLedger.Partitions;
import dev.twinbox.proof.ledger.OrderLedgerReader;
import dev.twinbox.sample.demo.LedgerResult.State;
import jakarta.json.bind.Jsonb;
import jakarta.json.bind.JsonbBuilder;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;

/** Compares orders, events and shipments again and again while the demo runs, and keeps the latest result. */
final class Observer implements Runnable, AutoCloseable {

    private static final Duration PAUSE = Duration.ofMillis(400);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);

    /** A paused server does not answer. The page must not go on showing its last figures as if they were current. */
    private static final OrderLedgerReader.Limits LIMITS =
            new OrderLedgerReader.Limits(Duration.ofSeconds(5), Duration.ofSeconds(2));

    /** The orders service has customers 1 to 1000. */
    private static final long CUSTOMERS = 1_000;

    private final Landscape landscape;
    private final Jsonb jsonb = JsonbBuilder.create();
    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(1))
            .build();
    private final Thread thread = new Thread(this, "observer");

    // Only the observer's thread uses these.
    private final OrderLedgerReader ledger;
    private long skippedByEarlierReceivers;
    private long skippedByThisReceiver;

    // Written by the observer's thread, read by the page.
    private volatile Sight sight = new Sight(LedgerResult.none("first comparison"), null, 0);

    private volatile boolean closed;

    Observer(Landscape landscape, Repeater repeater) {
        this.landscape = landscape;
        this.ledger = new OrderLedgerReader(landscape, CUSTOMERS, Partitions.FIXED, LIMITS, repeater::remember);
    }

    void start() {
        thread.setDaemon(true);
        thread.start();
    }

    /** What the latest look found. */
    Sight sight() {
        return sight;
    }

    @Override
    public void run() {
        while (!closed) {
            long begun = System.nanoTime();
            look();
            // With many orders a look takes long. It must not become the load.
            long pause = Math.max(PAUSE.toNanos(), 3 * (System.nanoTime() - begun));
            LockSupport.parkNanos(Math.min(pause, LONGEST_PAUSE.toNanos()));
        }
    }

    private void look() {
        try {
            lookOnce();
        } catch (SQLException e) {
            waitFor("PostgreSQL");
        } catch (KafkaException e) {
            waitFor("Kafka");
        } catch (RuntimeException e) {
            show(State.WRONG, "the comparison failed: " + e);
        }
    }

    /** The page's buttons stop servers. Then the last figures stay, with the reason. A fault stays a fault. */
    private void waitFor(String server) {
        State last = sight.verdict().state();
        show(last == State.WRONG ? State.WRONG : State.CATCHING_UP, server + " does not answer, waiting for it");
    }

    private void show(State state, String reason) {
        sight = new Sight(sight.verdict().with(state, reason), sight.position(), sight.skipped());
    }

    private void lookOnce() throws SQLException {
        LedgerResult verdict = LedgerResult.of(ledger.look());
        try (Connection orders = landscape.postgres().connect(Landscape.ORDERS_DATABASE, LIMITS.database())) {
            sight = new Sight(verdict, RelayPosition.read(orders), countSkipped());
        }
    }

    /** The receiver counts from its start: a lower number than before comes from a new receiver. */
    private long countSkipped() {
        long counted = askReceiver();
        if (counted >= 0) {
            if (counted < skippedByThisReceiver) {
                skippedByEarlierReceivers += skippedByThisReceiver;
            }
            skippedByThisReceiver = counted;
        }
        return skippedByEarlierReceivers + skippedByThisReceiver;
    }

    /** @return -1 if the receiver does not answer */
    private long askReceiver() {
        URI address = landscape.uri(Part.RECEIVER_1);
        HttpRequest request =
                HttpRequest.newBuilder(address).timeout(Duration.ofSeconds(1)).build();
        try {
            HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString());
            return answer.statusCode() == 200
                    ? jsonb.fromJson(answer.body(), Shipments.class).duplicatesSkipped()
                    : -1;
        } catch (IOException e) {
            return -1;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return -1;
        }
    }

    @Override
    public void close() {
        closed = true;
        LockSupport.unpark(thread);
    }

    /** What {@code GET /shipping/api/shipments} answers. */
    public record Shipments(long shipments, long duplicatesSkipped) {}

    /**
     * What the latest look found.
     *
     * @param position null before the relay's first save
     * @param skipped duplicates that receivers have skipped
     */
    record Sight(LedgerResult verdict, @Nullable RelayPosition position, long skipped) {}
}
