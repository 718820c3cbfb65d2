package dev.twinbox.relay.engine;

import java.util.concurrent.Semaphore;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.errors.InterruptException;

/**
 * Flushes the producer when no further page is waiting. The producer's own {@code linger.ms} is one number for all
 * situations. With 0, a backlog is sent in batches of a few records, which burdens the broker. With more, a single
 * event waits in vain. So records linger, and this thread ends the linger time. It must be a thread, since
 * {@code flush()} returns only when all records are acknowledged. The next page must not wait for that. Records added
 * meanwhile do not linger either.
 */
final class ProducerFlusher implements Runnable {
    private final Producer<byte[], byte[]> producer;
    private final Failures failures;
    private final Semaphore asked = new Semaphore(0);

    ProducerFlusher(Producer<byte[], byte[]> producer, Failures failures) {
        this.producer = producer;
        this.failures = failures;
    }

    /** Requests that all records handed over so far are sent. Returns at once. */
    void flush() {
        if (asked.availablePermits() == 0) {
            asked.release();
        }
    }

    @Override
    public void run() {
        try {
            while (true) {
                asked.acquire();
                producer.flush();
            }
        } catch (InterruptedException | InterruptException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException | Error e) {
            failures.report(e);
        }
    }
}
