package dev.twinbox.proof.bench.receive;

import jakarta.annotation.PostConstruct;
import jakarta.annotation.PreDestroy;
import jakarta.annotation.Resource;
import jakarta.ejb.EJB;
import jakarta.ejb.Singleton;
import jakarta.ejb.Startup;
import jakarta.enterprise.concurrent.ManagedThreadFactory;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.jspecify.annotations.Nullable;

/**
 * The consumer to compare with: the shortest one whose effects happen exactly once. One container thread polls, gives
 * each batch to one transaction, then commits the offsets. An error ends it; the benchmark then has no figure.
 */
@Singleton
@Startup
public class HandWrittenConsumer {

    private static final System.Logger LOG = System.getLogger(HandWrittenConsumer.class.getName());
    private static final Duration POLL = Duration.ofMillis(500);

    @Resource(lookup = "java:comp/DefaultManagedThreadFactory")
    private ManagedThreadFactory threads;

    @EJB
    private HandWrittenBatch batch;

    @Inject
    @ConfigProperty(name = "twinbox.inbox.kafka.bootstrap.servers")
    private String bootstrapServers;

    @Inject
    @ConfigProperty(name = "twinbox.inbox.batch.size", defaultValue = "500")
    private int batchSize;

    private @Nullable Consumer<String, byte[]> consumer;
    private @Nullable Thread thread;

    @PostConstruct
    void start() {
        Consumer<String, byte[]> opened = new KafkaConsumer<>(
                Map.of(
                        ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG,
                        bootstrapServers,
                        ConsumerConfig.GROUP_ID_CONFIG,
                        "bench-by-hand",
                        ConsumerConfig.AUTO_OFFSET_RESET_CONFIG,
                        "earliest",
                        ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG,
                        false,
                        ConsumerConfig.ISOLATION_LEVEL_CONFIG,
                        "read_committed",
                        ConsumerConfig.MAX_POLL_RECORDS_CONFIG,
                        batchSize),
                new StringDeserializer(),
                new ByteArrayDeserializer());
        opened.subscribe(List.of("bench-by-hand"));
        consumer = opened;
        Thread started = threads.newThread(() -> consume(opened));
        thread = started;
        started.start();
    }

    private void consume(Consumer<String, byte[]> open) {
        try (open) {
            while (true) {
                ConsumerRecords<String, byte[]> polled = open.poll(POLL);
                if (!polled.isEmpty()) {
                    List<ConsumerRecord<String, byte[]>> records = new ArrayList<>(polled.count());
                    polled.forEach(records::add);
                    batch.apply(records);
                    open.commitSync();
                }
            }
        } catch (WakeupException e) {
            LOG.log(System.Logger.Level.DEBUG, "the hand-written consumer was asked to stop");
        } catch (RuntimeException e) {
            LOG.log(System.Logger.Level.ERROR, "the hand-written consumer ended: the benchmark's run is void", e);
        }
    }

    @PreDestroy
    void stop() {
        if (consumer == null || thread == null) {
            return;
        }
        consumer.wakeup();
        try {
            thread.join(10_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
