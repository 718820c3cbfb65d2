package dev.twinbox.proof.bench.debezium;

import io.debezium.embedded.Connect;
import io.debezium.engine.DebeziumEngine;
import io.debezium.engine.RecordChangeEvent;
import io.debezium.engine.format.ChangeEventFormat;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.connect.source.SourceRecord;

/**
 * Publishes an outbox with embedded Debezium: its PostgreSQL connector, its outbox event router and a Kafka producer.
 * It ends when it has published the given number of events, and prints the time.
 */
public final class DebeziumMain {

    /** Marks the result in the output, for the relay benchmark. */
    private static final String RESULT_PREFIX = "bench-nanos=";

    /** In the environment: every user of the machine can read the command line. */
    private static final String PASSWORD = "BENCH_DATABASE_PASSWORD";

    private DebeziumMain() {}

    /** Arguments: file with the engine's settings, file with the producer's, events to publish. */
    public static void main(String[] args) throws Exception {
        Properties engineSettings = read(Path.of(args[0]));
        engineSettings.setProperty("database.password", System.getenv(PASSWORD));
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try (Producer<byte[], byte[]> producer =
                new KafkaProducer<>(read(Path.of(args[1])), new ByteArraySerializer(), new ByteArraySerializer())) {
            Publisher publisher = new Publisher(producer, Long.parseLong(args[2]));
            // Closing commits the offsets. The publishing thread must not do that.
            try (DebeziumEngine<RecordChangeEvent<SourceRecord>> engine = DebeziumEngine.create(
                            ChangeEventFormat.of(Connect.class))
                    .using(engineSettings)
                    .using(publisher::engineEnded)
                    .notifying(publisher)
                    .build()) {
                thread.execute(engine);
                publisher.awaitEnd();
            }
            System.out.println(RESULT_PREFIX + publisher.nanos());
        } finally {
            thread.shutdown();
        }
    }

    private static Properties read(Path file) throws IOException {
        Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(file)) {
            properties.load(reader);
        }
        return properties;
    }
}
