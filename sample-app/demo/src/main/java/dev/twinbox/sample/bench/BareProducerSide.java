package dev.twinbox.sample.bench;

import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;

/** The relay benchmark's yardstick: {@link BareProducer} in a fresh JVM. */
final class BareProducerSide {

    private final Workload workload;
    private final String topic;
    private final Map<String, String> settings;
    private final List<String> jvmOptions;
    private final Path folder;

    /**
     * @param settings of the Kafka producer, {@code bootstrap.servers} included
     * @param folder takes the settings file and the child's output
     */
    BareProducerSide(
            Workload workload, String topic, Map<String, String> settings, List<String> jvmOptions, Path folder) {
        this.workload = workload;
        this.topic = topic;
        this.settings = settings;
        this.jvmOptions = jvmOptions;
        this.folder = folder;
    }

    /** From the first send to the last acknowledgement. */
    Duration run(Deadline deadline) throws IOException, InterruptedException {
        Path output = folder.resolve("bare-producer.log");
        Process child = new ProcessBuilder(command())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            Duration left = deadline.remaining("the bare producer");
            if (!child.waitFor(left.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new InvalidRunException("the bare producer did not end within " + left.toSeconds() + " s");
            }
        } finally {
            child.destroyForcibly();
        }
        return result(Files.readAllLines(output), child.exitValue());
    }

    private List<String> command() throws IOException {
        Path file = folder.resolve("bare-producer.properties");
        Properties properties = new Properties();
        properties.putAll(settings);
        try (Writer writer = Files.newBufferedWriter(file)) {
            properties.store(writer, null);
        }
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(jvmOptions);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), BareProducer.class.getName()));
        command.addAll(List.of(
                file.toString(),
                topic,
                Integer.toString(workload.events()),
                Integer.toString(workload.keys()),
                Long.toString(workload.firstOrder())));
        return command;
    }

    private static Duration result(List<String> lines, int exitCode) {
        return lines.stream()
                .filter(line -> line.startsWith(BareProducer.RESULT_PREFIX))
                .map(line -> Duration.ofNanos(Long.parseLong(line.substring(BareProducer.RESULT_PREFIX.length()))))
                .findFirst()
                .orElseThrow(() -> new InvalidRunException("the bare producer ended with exit code " + exitCode
                        + " and no result. It said:\n" + String.join("\n", lines)));
    }
}
