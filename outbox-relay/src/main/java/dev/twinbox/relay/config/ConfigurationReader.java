package dev.twinbox.relay.config;

import dev.twinbox.config.SettingsReader;
import dev.twinbox.console.config.ProcessConfig;
import dev.twinbox.schema.OutboxSchema;
import dev.twinbox.schema.TableSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Turns a file, the environment and system properties into a {@link RelayConfig}. The later one of these wins. All
 * problems are reported at once, each with key, value, place and what would be legal.
 */
public final class ConfigurationReader {

    /** First wait when there is nothing to send, and the longest. */
    private static final RelayConfig.Idle IDLE = new RelayConfig.Idle(Duration.ofMillis(2), Duration.ofMillis(50));

    private static final Duration RETRY = Duration.ofSeconds(1);
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration SOCKET_TIMEOUT = Duration.ofSeconds(20);
    private static final Duration READY_TIMEOUT = Duration.ofSeconds(10);

    private final ProcessConfig process;
    private final SettingsReader reader;

    private ConfigurationReader(ProcessConfig process) {
        this.process = process;
        this.reader = process.reader();
    }

    /**
     * Reads the configuration of this process.
     *
     * @param file properties in UTF-8; null: none
     * @throws RelayException with {@link ExitCode#USAGE}, its message lists all that is wrong
     */
    public static RelayConfig read(@Nullable Path file) {
        return read(file, System.getenv(), ProcessConfig.systemProperties());
    }

    /** As {@link #read(Path)}, from given places. */
    public static RelayConfig read(
            @Nullable Path file, Map<String, String> environment, Map<String, String> systemProperties) {
        try {
            return new ConfigurationReader(ProcessConfig.of(file, environment, systemProperties)).read();
        } catch (IllegalArgumentException e) {
            throw new RelayException(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
        }
    }

    private RelayConfig read() {
        reader.read(RelaySettings.ALL);
        RelaySettings.HTTP.refuseEqualTokens(reader);
        Optional<OutboxSchema> tables = TableSettings.read(reader);
        Map<String, String> kafka = reader.readBelow(KafkaSettings.PREFIX, KafkaSettings.names());
        KafkaSettings.problems(kafka).forEach((name, problem) -> reader.report(KafkaSettings.PREFIX + name, problem));
        RelayConfig.Telemetry telemetry = telemetry();
        reader.allow(RelaySettings.OF_APPLICATIONS);
        reader.explainDropped(RelaySettings.DROPPED);
        reader.refuseUnknown("twinbox.", "twinbox.inbox.", "twinbox.console.");
        process.throwIfWrong();
        return config(tables.orElseThrow(), new RelayConfig.Kafka(kafka), telemetry);
    }

    /** OpenTelemetry checks its own settings. The relay checks only whether it is on. */
    private RelayConfig.Telemetry telemetry() {
        String prefix = RelayConfig.Telemetry.PREFIX;
        Set<String> names = new TreeSet<>(Set.of(RelayConfig.Telemetry.DISABLED.substring(prefix.length())));
        for (String name : process.names()) {
            if (name.startsWith(prefix)) {
                names.add(name.substring(prefix.length()));
            }
        }
        Map<String, String> settings = new HashMap<>();
        reader.readBelow(prefix, names).forEach((name, value) -> settings.put(prefix + name, value));
        String disabled = settings.getOrDefault(RelayConfig.Telemetry.DISABLED, "true");
        if (!disabled.equalsIgnoreCase("true") && !disabled.equalsIgnoreCase("false")) {
            reader.report(RelayConfig.Telemetry.DISABLED, "must be true or false");
        }
        return new RelayConfig.Telemetry(settings);
    }

    private RelayConfig config(OutboxSchema tables, RelayConfig.Kafka kafka, RelayConfig.Telemetry telemetry) {
        String name = reader.get(RelaySettings.NAME);
        return new RelayConfig(
                name,
                tables,
                new RelayConfig.Database(
                        reader.get(RelaySettings.DATABASE_URL),
                        reader.find(RelaySettings.DATABASE_USER).orElse(null),
                        reader.find(RelaySettings.DATABASE_PASSWORD).orElse(null),
                        CONNECT_TIMEOUT,
                        SOCKET_TIMEOUT),
                kafka,
                new RelayConfig.Page(
                        reader.get(RelaySettings.PAGE_ROWS),
                        reader.get(RelaySettings.PAGE_BYTES),
                        reader.get(RelaySettings.PAGE_IN_FLIGHT)),
                new RelayConfig.Delivery(reader.get(RelaySettings.DELIVERY), name + "-position"),
                reader.get(RelaySettings.LEASE),
                IDLE,
                RETRY,
                new RelayConfig.Parking(
                        reader.get(RelaySettings.STALL_TIMEOUT),
                        reader.get(RelaySettings.WAITING_LIMIT),
                        reader.get(RelaySettings.PAUSED_ROWS),
                        reader.get(RelaySettings.PAUSED_BYTES)),
                RelaySettings.HTTP.values(reader),
                READY_TIMEOUT,
                reader.get(RelaySettings.SHUTDOWN_TIMEOUT),
                reader.get(RelaySettings.LOG_LEVEL),
                reader.get(RelaySettings.LOG_FORMAT),
                telemetry,
                reader.find(RelaySettings.RETENTION).orElse(null));
    }
}
