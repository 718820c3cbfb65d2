package dev.twinbox.proof.bench;

import dev.twinbox.fixtures.RelayProcess;
import dev.twinbox.proof.bench.report.Console;
import java.io.IOException;
import java.io.Reader;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.ConfigDef;

/** The producer settings that the relay really uses, as Kafka's client prints them. The bare producer gets the same. */
final class ProducerSettings {

    private static final String HEADING = "ProducerConfig values:";
    private static final Pattern LINE = Pattern.compile("\\s+([a-z0-9._]+) = (.*)");

    /** Makes Kafka's client print its settings, in one relay that is not measured. */
    private static final String PRINT_SETTINGS = """
            <configuration>
              <appender name="OUT" class="ch.qos.logback.core.ConsoleAppender"><encoder><pattern>%msg%n</pattern></encoder></appender>
              <root level="INFO"><appender-ref ref="OUT"/></root>
            </configuration>
            """;

    private static final String TOPIC = "bench-asked";

    private ProducerSettings() {}

    /**
     * Starts a relay that sends one event. It is not measured, and leaves an empty outbox.
     *
     * @return the settings that another producer of this broker needs to be the same
     */
    static Map<String, String> ofRelay(Relays relays, BenchServers servers, Deadline deadline)
            throws SQLException, IOException {
        Console.say("asking the relay for its producer settings");
        servers.topics().create(TOPIC, 1);
        try (Connection connection = servers.connect()) {
            OutboxBacklog.load(connection, EventTable.TWINBOX, new Workload(1, 1, 0), TOPIC);
        }
        Path logging = Files.writeString(servers.folder().resolve("logback.xml"), PRINT_SETTINGS);
        try (RelayProcess asked = relays.start(List.of("-Dlogback.configurationFile=" + logging))) {
            deadline.await(
                    "the first event of the relay",
                    Duration.ofMillis(100),
                    () -> servers.topics().records(TOPIC, 1) == 1);
            asked.terminate();
            Map<String, String> settings = in(asked.log());
            // A list, which the log shows in brackets.
            settings.put(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, servers.bootstrapServers());
            // It bounds a wait and costs no time. After it the relay retries; another producer would give up.
            settings.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, "60000");
            return settings;
        } finally {
            servers.execute("truncate outbox_event");
            relays.forgetPosition();
        }
    }

    /**
     * Parses all settings with a single value.
     *
     * @param log a relay's output, with Kafka's {@code ProducerConfig} logger at INFO
     */
    static Map<String, String> in(String log) {
        int heading = log.lastIndexOf(HEADING);
        if (heading < 0) {
            throw new InvalidRunException("the relay's log does not hold \"" + HEADING + "\":\n" + log);
        }
        Map<String, String> settings = new TreeMap<>();
        log.substring(heading + HEADING.length())
                .lines()
                .skip(1)
                .map(LINE::matcher)
                .takeWhile(Matcher::matches)
                .filter(line -> isPlain(line.group(1), line.group(2)))
                .forEach(line -> settings.put(line.group(1), line.group(2).trim()));
        // Kafka prints "all" as a number.
        settings.computeIfPresent(ProducerConfig.ACKS_CONFIG, (name, value) -> value.equals("-1") ? "all" : value);
        return settings;
    }

    /** Writes settings for a program that {@link #read reads} them. */
    static void write(Map<String, String> settings, Path file) throws IOException {
        Properties properties = new Properties();
        properties.putAll(settings);
        try (Writer writer = Files.newBufferedWriter(file)) {
            properties.store(writer, null);
        }
    }

    static Properties read(Path file) throws IOException {
        Properties settings = new Properties();
        try (Reader reader = Files.newBufferedReader(file)) {
            settings.load(reader);
        }
        return settings;
    }

    /** The settings that differ from Kafka's defaults. */
    static Map<String, String> chosen(Map<String, String> settings) {
        Map<String, ConfigDef.ConfigKey> known = ProducerConfig.configDef().configKeys();
        Map<String, String> chosen = new TreeMap<>(settings);
        chosen.entrySet().removeIf(entry -> {
            ConfigDef.ConfigKey key = known.get(entry.getKey());
            return key == null
                    || entry.getKey().equals(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG)
                    || entry.getValue().equals(ConfigDef.convertToString(key.defaultValue, key.type));
        });
        return chosen;
    }

    /** Lists, classes and unset values cannot be parsed. Names of a client belong to one client. */
    private static boolean isPlain(String name, String value) {
        return !value.isBlank()
                && !value.equals("null")
                && !value.startsWith("[")
                && !value.startsWith("class ")
                && !name.startsWith("ssl.")
                && !name.startsWith("sasl.")
                && !name.equals(ProducerConfig.CLIENT_ID_CONFIG);
    }
}
