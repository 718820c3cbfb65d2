package dev.twinbox.proof.bench;

import dev.twinbox.CloudEventHeaders;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * Notes inside a relay when each event was handed to the producer, and when it was acknowledged. Kafka calls it because
 * of {@code interceptor.classes}. The notes go to a file that the benchmark maps into its memory, too. A note is a long,
 * {@link System#nanoTime()}, which is the same for all processes of a Linux machine.
 *
 * <p>A relay is started with {@code java -jar}, so the class is loaded as a Java agent, in a jar of its own.
 */
public final class AckTimes implements ProducerInterceptor<byte[], byte[]> {

    private static final String FILE = "bench.ack.file";
    private static final String EVENTS = "bench.ack.events";

    private final Workload workload = new Workload(Integer.getInteger(EVENTS), 1, 1);
    private final LongBuffer times = map(Path.of(System.getProperty(FILE)), workload.events());

    /** The notes of a relay, as the benchmark reads them. */
    record Notes(LongBuffer times, int events) {
        /** 0: never. */
        long handedAt(int number) {
            return times.get(events + number);
        }

        /** 0: never. */
        long acknowledgedAt(int number) {
            return times.get(number);
        }
    }

    /** The agent only has to be on the class path. */
    public static void premain(String arguments) {
        // Kafka's client finds the class by its name.
    }

    /** Called by the benchmark: sets the file to which the relay writes. */
    static Notes notes(Path file, int events) {
        return new Notes(map(file, events), events);
    }

    /** First the acknowledgement of each event, then the hand-over of each. */
    private static LongBuffer map(Path file, int events) {
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return channel.map(FileChannel.MapMode.READ_WRITE, 0, 2 * Long.BYTES * (long) events)
                    .order(ByteOrder.nativeOrder())
                    .asLongBuffer();
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot map " + file, e);
        }
    }

    /**
     * What a relay's JVM needs to note acknowledgements, beside the producer setting {@code interceptor.classes}.
     *
     * @param events of a workload whose first order is 1
     */
    static List<String> jvmOptions(Path folder, Path file, int events) throws IOException {
        return List.of("-javaagent:" + agent(folder), "-D" + FILE + "=" + file, "-D" + EVENTS + "=" + events);
    }

    private static Path agent(Path folder) throws IOException {
        Path jar = folder.resolve("ack-times.jar");
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().put(new Attributes.Name("Premain-Class"), AckTimes.class.getName());
        try (OutputStream out = Files.newOutputStream(jar);
                JarOutputStream entries = new JarOutputStream(out, manifest)) {
            for (Class<?> each : List.of(AckTimes.class, Notes.class, Workload.class, ExpectedEvents.class)) {
                String name = each.getName().replace('.', '/') + ".class";
                entries.putNextEntry(new JarEntry(name));
                try (InputStream bytes = each.getClassLoader().getResourceAsStream(name)) {
                    if (bytes == null) {
                        throw new IOException(name + " is not on the class path");
                    }
                    bytes.transferTo(entries);
                }
            }
        }
        return jar;
    }

    @Override
    public void onAcknowledgement(
            @Nullable RecordMetadata metadata, @Nullable Exception exception, @Nullable Headers headers) {
        if (exception == null) {
            note(headers, 0);
        }
    }

    private void note(@Nullable Headers headers, int offset) {
        long now = System.nanoTime();
        Header id = headers == null ? null : headers.lastHeader(CloudEventHeaders.ID);
        if (id != null) {
            int number = workload.numberOf(UUID.fromString(new String(id.value(), StandardCharsets.UTF_8)));
            if (number >= 0) {
                times.put(offset + number, now);
            }
        }
    }

    @Override
    public ProducerRecord<byte[], byte[]> onSend(ProducerRecord<byte[], byte[]> event) {
        note(event.headers(), workload.events());
        return event;
    }

    @Override
    public void configure(Map<String, ?> settings) {
        // The settings are system properties.
    }

    @Override
    public void close() {
        // The mapping ends with the process.
    }
}
