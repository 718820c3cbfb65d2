package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.CloudEventHeaders;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Sends events of forty keys until it is closed. The handler is slow for one of the keys. */
final class Load implements AutoCloseable {
    private final Sent sent;
    private final Thread thread = new Thread(this::send, "load");
    private final CountDownLatch begun = new CountDownLatch(1);
    private volatile boolean closed;
    private volatile Throwable failure;

    Load(Sent sent) {
        this.sent = sent;
        thread.start();
    }

    /** Waits until the first events are on the topic. */
    void awaitStarted() {
        await().atMost(ParallelApp.LIMIT).until(() -> begun.getCount() == 0 || failure != null);
    }

    private void send() {
        try {
            for (int i = 0; !closed; i++) {
                for (int k = 0; k < 40; k++) {
                    String key = "m" + k;
                    boolean slow = k == 7 && i % 5 == 0;
                    add(k % ParallelApp.PARTITIONS, key, sent.next(key), slow ? "sql:select pg_sleep(0.3)" : "");
                }
                ParallelApp.topics().flush();
                begun.countDown();
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(200)); // a rate, not a wait
            }
        } catch (RuntimeException | Error e) {
            failure = e;
        }
    }

    private static void add(int partition, String key, String id, String action) {
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(
                ParallelApp.MOVING,
                partition,
                Topics.bytes(key),
                Topics.bytes(Topics.order(id, action, Integer.MAX_VALUE)));
        record.headers().add(CloudEventHeaders.ID, Topics.bytes(id)).add(CloudEventHeaders.TYPE, Topics.bytes("order"));
        ParallelApp.topics().add(record);
    }

    @Override
    public void close() {
        closed = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        assertThat(failure).isNull();
    }
}
