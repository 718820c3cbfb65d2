package dev.twinbox.proof.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** What the relay is compared with: {@link BareProducer}, with all events in memory. */
final class BareProducerSide implements PublishingSide {

    static final String LABEL = "producer alone";

    private final Workload workload;
    private final String topic;
    private final Path settings;
    private final JavaProgram program;

    /**
     * @param settings of the Kafka producer, including {@code bootstrap.servers}
     * @param folder for the settings file and the child's output
     */
    BareProducerSide(
            Workload workload, String topic, Map<String, String> settings, List<String> jvmOptions, Path folder)
            throws IOException {
        this.workload = workload;
        this.topic = topic;
        this.settings = folder.resolve("bare-producer.properties");
        this.program =
                JavaProgram.ofThisClassPath("the bare producer", BareProducer.class, jvmOptions, Map.of(), folder);
        ProducerSettings.write(settings, this.settings);
    }

    @Override
    public String label() {
        return LABEL;
    }

    @Override
    public void prepare() {
        // It makes its events itself before its clock starts.
    }

    @Override
    public Timed run(Deadline deadline) throws IOException, InterruptedException {
        return program.run(
                deadline,
                settings.toString(),
                topic,
                Integer.toString(workload.events()),
                Integer.toString(workload.keys()),
                Long.toString(workload.firstOrder()));
    }
}
