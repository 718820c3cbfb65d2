package dev.twinbox.proof.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/**
 * Kafka's own producer with nothing around it: the relay is compared with it. It runs in a JVM of its own and sends a
 * workload from memory. It prints the time from its first send to its last acknowledgement.
 */
final class BareProducer {

    private static final long GIVE_UP_SECONDS = 120;

    private final Workload workload;
    private final String topic;
    private final CountDownLatch acknowledged;
    private final AtomicReference<@Nullable Exception> failure = new AtomicReference<>();
    // The main thread reads it after the latch, which the last callback counts down.
    private long lastAcknowledgement;

    private BareProducer(Workload workload, String topic) {
        this.workload = workload;
        this.topic = topic;
        this.acknowledged = new CountDownLatch(workload.events());
    }

    /** Arguments: file with the producer's settings, topic, events, keys, first order id. */
    public static void main(String[] args) throws IOException, InterruptedException {
        Workload workload = new Workload(Integer.parseInt(args[2]), Integer.parseInt(args[3]), Long.parseLong(args[4]));
        JavaProgram.printResult(new BareProducer(workload, args[1]).run(ProducerSettings.read(Path.of(args[0]))));
    }

    @SuppressWarnings("FutureReturnValueIgnored") // the callback gets each outcome
    private long run(Properties settings) throws InterruptedException {
        EventRecord[] events = new EventRecord[workload.events()];
        for (int number = 0; number < events.length; number++) {
            events[number] = EventRecord.of(workload, number);
        }
        // Collects the garbage of the preparation before the clock starts.
        System.gc();
        try (Producer<byte[], byte[]> producer =
                new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
            JavaProgram.printBegun();
            long firstSend = System.nanoTime();
            for (EventRecord event : events) {
                producer.send(event.to(topic, null), onAcknowledgement);
            }
            awaitAcknowledgements();
            return lastAcknowledgement - firstSend;
        }
    }

    private final Callback onAcknowledgement = new Callback() {
        @Override
        public void onCompletion(RecordMetadata metadata, @Nullable Exception exception) {
            if (exception != null) {
                failure.compareAndSet(null, exception);
            }
            if (acknowledged.getCount() == 1) {
                lastAcknowledgement = System.nanoTime();
            }
            acknowledged.countDown();
        }
    };

    private void awaitAcknowledgements() throws InterruptedException {
        boolean all = acknowledged.await(GIVE_UP_SECONDS, TimeUnit.SECONDS);
        Exception first = failure.get();
        if (first != null) {
            throw new IllegalStateException("the bare producer could not send to " + topic, first);
        }
        if (!all) {
            throw new IllegalStateException(acknowledged.getCount() + " of " + workload.events()
                    + " records were not acknowledged within " + GIVE_UP_SECONDS + " s");
        }
    }
}
