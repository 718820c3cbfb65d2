package dev.twinbox.inbox.config;

import dev.twinbox.InvalidConfigurationException;
import dev.twinbox.config.Setting;
import dev.twinbox.config.SettingsReader;
import dev.twinbox.inbox.config.InboxSettings.OfTopic;
import dev.twinbox.inbox.event.TopicFormat;
import dev.twinbox.inbox.jdbc.Backoff;
import dev.twinbox.inbox.jdbc.ParkedTable;
import dev.twinbox.jdbc.SqlIdentifier;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.eclipse.microprofile.config.Config;

/** Reads and checks the configuration of the receiver. Collects all problems instead of stopping at the first. */
public final class InboxConfigReader {

    private final SettingsReader reader;
    private final Set<String> topics;

    private InboxConfigReader(SettingsReader reader, Set<String> topics) {
        this.reader = reader;
        this.topics = new TreeSet<>(topics);
    }

    /**
     * Reads the configuration.
     *
     * @param topics those that the application reads
     * @throws InvalidConfigurationException names every key that is unknown, missing or has a value that cannot work
     */
    public static InboxConfig read(Config config, Set<String> topics) {
        return read(config, System.getenv().keySet(), topics);
    }

    /** @param environment names of the environment variables */
    static InboxConfig read(Config config, Set<String> environment, Set<String> topics) {
        return new InboxConfigReader(new SettingsReader(config, environment), topics).read();
    }

    private InboxConfig read() {
        reader.read(InboxSettings.ALL);
        reader.explainDropped(InboxSettings.DROPPED);
        topics.forEach(topic -> reader.read(InboxSettings.of(topic).all()));
        Optional<SqlIdentifier> table = table();
        Map<String, String> kafka = reader.readBelow(InboxSettings.KAFKA_PREFIX, ConsumerConfig.configNames());
        ConsumerSettings.check(reader, kafka);
        checkTogether();
        reader.explain(
                InboxSettings.TOPIC_PREFIX,
                "the topics of this application's handlers are " + topics
                        + "; event-id, event-type and value-format can be set of each");
        reader.refuseUnknown(InboxSettings.PREFIX);
        reader.throwIfWrong("Configuration of the inbox");
        return config(table.orElseThrow(), kafka);
    }

    private void checkTogether() {
        reader.requireAtMost(
                InboxSettings.LANES,
                InboxSettings.WORKERS,
                "some would never run; raise the number of workers, and the data source's pool with it");
        reader.requireAtMost(
                InboxSettings.PARKED_RETRY_INITIAL,
                InboxSettings.PARKED_RETRY_MAX,
                "the wait grows from one to the other");
    }

    /** Each part is checked by its own setting, so that a table of a wrong schema is one problem. */
    private Optional<SqlIdentifier> table() {
        List<Setting<?>> names = List.of(InboxSettings.SCHEMA, InboxSettings.TABLE);
        return reader.combine(
                names,
                () -> new SqlIdentifier(
                        reader.find(InboxSettings.SCHEMA).orElse(null), reader.get(InboxSettings.TABLE)));
    }

    private InboxConfig config(SqlIdentifier table, Map<String, String> kafka) {
        return new InboxConfig(
                reader.get(InboxSettings.GROUP),
                reader.get(InboxSettings.DATA_SOURCE),
                table,
                new InboxConfig.Batch(reader.get(InboxSettings.BATCH_SIZE), reader.get(InboxSettings.BATCH_MAX_TIME)),
                reader.get(InboxSettings.WORKERS),
                new InboxConfig.Lanes(reader.get(InboxSettings.LANES), InboxConfig.LANES_AHEAD),
                InboxConfig.Buffer.DEFAULT,
                new Backoff(InboxConfig.FIRST_RETRY, reader.get(InboxSettings.RETRY_MAX)),
                parking(table),
                reader.get(InboxSettings.START),
                reader.get(InboxSettings.RETENTION).orElse(null),
                reader.get(InboxSettings.SHUTDOWN_TIMEOUT),
                formats(),
                reader.get(InboxSettings.UNKNOWN_TYPE),
                kafka);
    }

    private InboxConfig.Parking parking(SqlIdentifier table) {
        return new InboxConfig.Parking(
                ParkedTable.name(table),
                reader.get(InboxSettings.QUICK_TRIES),
                reader.get(InboxSettings.PARKED_ATTEMPTS),
                new Backoff(reader.get(InboxSettings.PARKED_RETRY_INITIAL), reader.get(InboxSettings.PARKED_RETRY_MAX)),
                reader.get(InboxSettings.PARKED_WHEN_DEAD));
    }

    private TopicFormat.OfTopics formats() {
        TopicFormat common = new TopicFormat(
                reader.get(InboxSettings.EVENT_ID),
                reader.get(InboxSettings.EVENT_TYPE),
                reader.get(InboxSettings.VALUE_FORMAT));
        Map<String, TopicFormat> own = new TreeMap<>();
        for (String topic : topics) {
            OfTopic settings = InboxSettings.of(topic);
            TopicFormat format = new TopicFormat(
                    reader.find(settings.id()).orElse(common.id()),
                    reader.find(settings.type()).orElse(common.type()),
                    reader.find(settings.value()).orElse(common.value()));
            if (!format.equals(common)) {
                own.put(topic, format);
            }
        }
        return new TopicFormat.OfTopics(common, own);
    }
}
