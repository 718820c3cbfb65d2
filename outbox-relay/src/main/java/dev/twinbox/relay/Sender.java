package dev.twinbox.relay;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The sending thread: hands records to the producer in order. One that the producer does not even take (no metadata yet, no
 * memory) is tried again before any other: nothing behind it has been handed over, so no order is broken. Any other failure
 * ends the session.
 */
final class Sender implements Runnable, Page.Listener {
    private static final Logger LOG = LoggerFactory.getLogger(Sender.class);
    private static final long LEASE_CHECK = TimeUnit.MILLISECONDS.toNanos(10);

    private final Producer<byte[], byte[]> producer;
    private final InFlight inFlight;
    private final Lease lease;
    private final Failures failures;
    private final Progress progress;
    private final Waiter main;
    private final Gate gate;
    private volatile @Nullable Thread sending;
    private @Nullable Exception notTaken; // written and read by the sending thread

    /**
     * @param main woken when a page is done
     * @param gate passed before each page
     */
    Sender(
            Producer<byte[], byte[]> producer,
            InFlight inFlight,
            Lease lease,
            Failures failures,
            Progress progress,
            Waiter main,
            Gate gate) {
        this.producer = producer;
        this.inFlight = inFlight;
        this.lease = lease;
        this.failures = failures;
        this.progress = progress;
        this.main = main;
        this.gate = gate;
    }

    @Override
    public void run() {
        sending = Thread.currentThread();
        try {
            Page page = inFlight.take();
            while (page != null) {
                send(page);
                page = inFlight.take();
            }
        } catch (InterruptedException | InterruptException e) {
            Thread.currentThread().interrupt();
        } catch (Exception | Error e) {
            failures.report(e);
        }
    }

    private void send(Page page) throws InterruptedException, SendFailedException {
        gate.awaitOpen();
        page.report(this);
        for (OutboxRecord record : page.records()) {
            while (!handOver(record)) {
                awaitNext(record);
            }
            if (failures.any()) {
                throw new InterruptedException("the session has failed");
            }
        }
    }

    /** Whether the producer took the record; it may fail later. */
    @SuppressWarnings("FutureReturnValueIgnored") // the record is its own callback
    private boolean handOver(OutboxRecord record) throws InterruptedException {
        while (!lease.isHeld()) {
            pauseForLease();
        }
        notTaken = null;
        producer.send(record.record(), record);
        return notTaken == null;
    }

    /** The main thread is renewing the lease, or finds that it is lost and interrupts us. */
    private static void pauseForLease() throws InterruptedException {
        LockSupport.parkNanos(LEASE_CHECK);
        if (Thread.interrupted()) {
            throw new InterruptedException("the lease is lost");
        }
    }

    /** Says why, and returns when it is worth another try: the producer has already waited its {@code max.block.ms}. */
    private void awaitNext(OutboxRecord record) throws SendFailedException, InterruptedException {
        Exception why = notTaken;
        if (!(why instanceof TimeoutException)) {
            throw new SendFailedException(record, why == null ? new IllegalStateException("not taken") : why);
        }
        if (failures.any() || Thread.interrupted()) {
            throw new InterruptedException("the session has failed");
        }
        String reason = why.getCause() instanceof UnknownTopicOrPartitionException
                ? "topic \"" + record.record().topic() + "\" does not exist: create it, the relay never does"
                : String.valueOf(why.getMessage());
        progress.brokerFailed(reason);
        LOG.warn("Waiting to send {}: {}", record, reason);
    }

    @Override
    public void acknowledged(Page page) {
        main.wake();
    }

    @Override
    public void failed(OutboxRecord record, Exception failure) {
        if (Thread.currentThread() == sending) {
            notTaken = failure; // the producer calls back from within send() what it does not take
        } else {
            failures.report(new SendFailedException(record, failure));
            // Here, on the producer's own thread, nothing can be sent between the failure and the end: a later record
            // of
            // this key that is still waiting in the producer would overtake it. Those already under way carry sequence
            // numbers that the broker refuses.
            producer.close(Duration.ZERO);
        }
    }
}
