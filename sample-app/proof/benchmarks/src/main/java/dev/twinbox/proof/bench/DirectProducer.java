package dev.twinbox.proof.bench;

import dev.twinbox.proof.bench.report.Latencies;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/**
 * An application that sends its events to Kafka itself, each at its due time, without an outbox. The relay's latency is
 * compared with it.
 */
final class DirectProducer implements AutoCloseable {

    private final Producer<byte[], byte[]> producer;
    private final Workload workload;
    private final String topic;
    private Instant startedAt = Instant.MIN;

    DirectProducer(Map<String, String> settings, Workload workload, String topic) {
        this.producer = new KafkaProducer<>(Map.copyOf(settings), new ByteArraySerializer(), new ByteArraySerializer());
        this.workload = workload;
        this.topic = topic;
    }

    /** Time from the due moment of each event to its acknowledgement. */
    @SuppressWarnings("FutureReturnValueIgnored") // the callback gets each outcome
    Latencies run(OpenLoop.Schedule schedule, Deadline deadline) throws InterruptedException {
        long[] acknowledged = new long[schedule.events()];
        CountDownLatch open = new CountDownLatch(schedule.events());
        AtomicReference<@Nullable Exception> failure = new AtomicReference<>();
        long start = System.nanoTime();
        startedAt = Instant.now();
        for (int i = 0; i < schedule.events(); i++) {
            int index = i;
            int number = schedule.first() + i;
            OpenLoop.waitUntil(start + schedule.nanosFromStart(schedule.transactionOf(number)));
            producer.send(EventRecord.of(workload, number).to(topic, null), (metadata, exception) -> {
                acknowledged[index] = System.nanoTime();
                if (exception != null) {
                    failure.compareAndSet(null, exception);
                }
                open.countDown();
            });
        }
        if (!open.await(deadline.remaining("direct produce").toMillis(), TimeUnit.MILLISECONDS)
                || failure.get() != null) {
            throw new InvalidRunException("direct produce failed, " + open.getCount() + " events open", failure.get());
        }
        Latencies latencies = new Latencies();
        for (int i = 0; i < acknowledged.length; i++) {
            latencies.add(
                    acknowledged[i] - start - schedule.nanosFromStart(schedule.transactionOf(schedule.first() + i)));
        }
        return latencies;
    }

    /** When the clock of the last schedule was started. */
    Instant startedAt() {
        return startedAt;
    }

    @Override
    public void close() {
        producer.close();
    }
}
