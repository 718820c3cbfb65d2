package dev.twinbox.sample.demo;

import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.sample.demo.Books.State;
import dev.twinbox.sample.demo.Books.Verdict;
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
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;

/** Reads the books again and again, beside everything else that happens, and keeps the latest comparison. */
final class Observer implements Runnable, AutoCloseable {

    private static final Duration PAUSE = Duration.ofMillis(400);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);
    private static final Duration KAFKA_LIMIT = Duration.ofSeconds(2);
    /** A server that is paused says nothing: the page must not go on showing what it last said as if it were so. */
    private static final Duration DATABASE_LIMIT = Duration.ofSeconds(5);

    private final Landscape landscape;
    private final Repeater repeater;
    private final Jsonb jsonb = JsonbBuilder.create();
    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(1))
            .build();
    private final Thread thread = new Thread(this, "observer");

    // Only the observer's thread uses these.
    private final Books books = new Books();
    private final OrdersBook ordersBook = new OrdersBook(jsonb);
    private @Nullable TopicFollower follower;
    private long skippedByEarlierReceivers;
    private long skippedByThisReceiver;

    // Written by the observer's thread, read by the page.
    private volatile Sight sight =
            new Sight(new Verdict(State.CATCHING_UP, 0, 0, 0, 0, 0, "first look at the books"), null, 0);

    private volatile boolean closed;

    Observer(Landscape landscape, Repeater repeater) {
        this.landscape = landscape;
        this.repeater = repeater;
    }

    void start() {
        thread.setDaemon(true);
        thread.start();
    }

    /** The latest look. */
    Sight sight() {
        return sight;
    }

    @Override
    public void run() {
        while (!closed) {
            long begun = System.nanoTime();
            look();
            // A long book takes long to read: the reading must not become the load.
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
            show(State.WRONG, "the books cannot be read: " + e);
        }
    }

    /** A server is away, because the page's buttons do that: say so beside the last figures. What was wrong stays wrong. */
    private void waitFor(String server) {
        State last = sight.verdict().state();
        show(last == State.WRONG ? State.WRONG : State.CATCHING_UP, server + " does not answer, the books wait");
    }

    private void show(State state, String reason) {
        sight = new Sight(sight.verdict().withState(state, reason), sight.position(), sight.skipped());
    }

    private void lookOnce() throws SQLException {
        PostgresServer postgres = landscape.postgres();
        try (Connection shipping = postgres.connect(Landscape.SHIPPING_DATABASE, DATABASE_LIMIT)) {
            books.shipped(ShippingBook.read(shipping));
        }
        follow();
        try (Connection orders = postgres.connect(Landscape.ORDERS_DATABASE, DATABASE_LIMIT)) {
            ordersBook.read(orders, books);
            sight = new Sight(books.compare(), OrdersBook.readPosition(orders), countSkipped());
        }
    }

    private void follow() {
        TopicFollower open = follower;
        if (open == null) {
            open = new TopicFollower(landscape.kafka().bootstrapServers(), Landscape.TOPIC, KAFKA_LIMIT);
            follower = open;
        }
        open.readToEnd(this::take);
    }

    private void take(ConsumerRecord<byte[], byte[]> record) {
        books.appeared(OrderEvent.of(record, jsonb));
        repeater.remember(record);
    }

    /** The receiver counts from its start; a lower number than before is a new receiver's. */
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

    /** @return -1 while the receiver does not answer */
    private long askReceiver() {
        URI address = landscape.shippingServer().uri("/shipping/api/shipments");
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
     * One look at everything.
     *
     * @param position null before the relay's first save
     * @param skipped duplicates that receivers have skipped
     */
    record Sight(Verdict verdict, OrdersBook.@Nullable Position position, long skipped) {}
}
