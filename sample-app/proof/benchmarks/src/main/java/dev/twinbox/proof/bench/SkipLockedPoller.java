package dev.twinbox.proof.bench;

import dev.twinbox.CloudEventHeaders;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/**
 * The poller that most people write by hand, written well. One statement takes and deletes a batch, and skips what
 * another poller holds. The batch is sent; when all of it is acknowledged, the deletion is committed. It runs in a JVM
 * of its own.
 *
 * <p>Order holds only if it is alone and transactions commit in the order of their numbers. Order is not measured.
 */
final class SkipLockedPoller {

    static final String PASSWORD = "BENCH_DATABASE_PASSWORD";

    /** As a number of events: run until killed. */
    static final int FOR_EVER = 0;

    private static final int BATCH = 1_000;
    private static final long IDLE_NANOS = 2_000_000;

    // The array makes the planner run the inner query once, whatever the statistics are.
    private static final String TAKE = """
            -- bench: skip locked, poll
            delete from skip_locked_outbox where number = any (array(
              select number from skip_locked_outbox order by number limit ? for update skip locked))
            returning number, id, topic, key, type, source, occurred_at, content_type, payload""";

    private static final Header SPEC_VERSION =
            header(CloudEventHeaders.SPEC_VERSION, CloudEventHeaders.SPEC_VERSION_1_0.getBytes(StandardCharsets.UTF_8));

    /** A row with its number: a deletion returns rows in no order. */
    private record Taken(long number, ProducerRecord<byte[], byte[]> event) {}

    private final Connection connection;
    private final PreparedStatement take;
    private final Producer<byte[], byte[]> producer;
    private final AtomicReference<@Nullable Exception> failure = new AtomicReference<>();
    // Written by the producer's thread, read after a flush.
    private volatile long lastAcknowledgement;

    private SkipLockedPoller(Connection connection, Producer<byte[], byte[]> producer) throws SQLException {
        this.connection = connection;
        this.producer = producer;
        connection.setAutoCommit(false);
        this.take = connection.prepareStatement(TAKE);
        take.setInt(1, BATCH);
    }

    /**
     * Arguments: file with the producer's settings, JDBC URL, user, events to publish ({@value #FOR_EVER}: until it is
     * killed).
     */
    public static void main(String[] args) throws Exception {
        Properties settings = ProducerSettings.read(Path.of(args[0]));
        Properties login = new Properties();
        login.setProperty("user", args[2]);
        login.setProperty("password", System.getenv(PASSWORD));
        login.setProperty("prepareThreshold", "1"); // binary transfer from the first poll on
        try (Connection connection = DriverManager.getConnection(args[1], login);
                Producer<byte[], byte[]> producer =
                        new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
            JavaProgram.printResult(new SkipLockedPoller(connection, producer).run(Long.parseLong(args[3])));
        }
    }

    private long run(long events) throws Exception {
        JavaProgram.printBegun();
        long firstRead = System.nanoTime();
        long sent = 0;
        while (events == FOR_EVER || sent < events) {
            int published = publishOnce();
            sent += published;
            if (published < BATCH) {
                LockSupport.parkNanos(IDLE_NANOS);
            }
        }
        return lastAcknowledgement - firstRead;
    }

    /** Returns how many rows there were. */
    private int publishOnce() throws Exception {
        List<Taken> batch = take();
        for (Taken row : batch) {
            send(row.event);
        }
        producer.flush();
        Exception first = failure.get();
        if (first != null) {
            throw first; // the transaction ends with the process, so nothing is lost
        }
        connection.commit();
        return batch.size();
    }

    @SuppressWarnings("FutureReturnValueIgnored") // the callback gets each outcome
    private void send(ProducerRecord<byte[], byte[]> event) {
        producer.send(event, (metadata, exception) -> {
            if (exception != null) {
                failure.compareAndSet(null, exception);
            }
            lastAcknowledgement = System.nanoTime();
        });
    }

    private List<Taken> take() throws SQLException {
        List<Taken> batch = new ArrayList<>(BATCH);
        try (ResultSet row = take.executeQuery()) {
            while (row.next()) {
                batch.add(new Taken(row.getLong(1), event(row)));
            }
        }
        batch.sort(Comparator.comparingLong(Taken::number));
        return batch;
    }

    private static ProducerRecord<byte[], byte[]> event(ResultSet row) throws SQLException {
        byte[] key = utf8(row.getString(4));
        String time = row.getObject(7, OffsetDateTime.class).toInstant().toString();
        return new ProducerRecord<>(
                row.getString(3),
                null,
                key,
                row.getBytes(9),
                List.of(
                        SPEC_VERSION,
                        header(CloudEventHeaders.ID, utf8(row.getString(2))),
                        header(CloudEventHeaders.TYPE, utf8(row.getString(5))),
                        header(CloudEventHeaders.SOURCE, utf8(row.getString(6))),
                        header(CloudEventHeaders.TIME, utf8(time)),
                        header(CloudEventHeaders.CONTENT_TYPE, utf8(row.getString(8))),
                        header(CloudEventHeaders.PARTITION_KEY, key)));
    }

    private static Header header(String name, byte[] value) {
        return new RecordHeader(name, value);
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
