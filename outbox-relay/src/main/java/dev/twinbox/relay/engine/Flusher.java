package dev.twinbox.relay.engine;

import java.util.concurrent.Semaphore;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.errors.InterruptException;

/**
 * Sends what lingers in the producer when nobody will add to it. The producer's own {@code linger.ms} is one number for all
 * times: with 0 a backlog goes out in batches of a few records, for which the broker pays, and with more an event that comes
 * alone waits in vain. So records linger, and this thread ends it whenever no further page is waiting. It has to be a thread:
 * {@code flush()} returns when all is acknowledged, and the next page should not wait for that. What is added meanwhile does
 * not linger either.
 */
final class Flusher implements Runnable {
    private final Producer<byte[], byte[]> producer;
    private final Failures failures;
    private final Semaphore asked = new Semaphore(0);

    Flusher(Producer<byte[], byte[]> producer, Failures failures) {
        this.producer = producer;
        this.failures = failures;
    }

    /** All that has been handed to the producer until now should leave it. Returns at once. */
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
