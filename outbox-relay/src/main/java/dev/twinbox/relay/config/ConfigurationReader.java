package dev.twinbox.relay.config;

import dev.twinbox.config.Secret;
import dev.twinbox.config.SettingsReader;
import dev.twinbox.schema.OutboxSchema;
import dev.twinbox.schema.TableSettings;
import io.smallrye.config.ConfigValue;
import io.smallrye.config.EnvConfigSource;
import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfig;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import org.eclipse.microprofile.config.spi.ConfigSource;
import org.jspecify.annotations.Nullable;

/**
 * Turns a file, the environment and system properties into a {@link RelayConfig}. The later one of these wins. All
 * problems are reported at once, each with key, value, place and what would be legal.
 */
public final class ConfigurationReader {

    private static final int FILE_ORDINAL = 100;
    private static final int ENVIRONMENT_ORDINAL = 300;
    private static final int SYSTEM_PROPERTIES_ORDINAL = 400;

    /** First wait when there is nothing to send, and the longest. */
    private static final RelayConfig.Idle IDLE = new RelayConfig.Idle(Duration.ofMillis(2), Duration.ofMillis(50));

    private static final Duration RETRY = Duration.ofSeconds(1);
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration SOCKET_TIMEOUT = Duration.ofSeconds(20);
    private static final Duration READY_TIMEOUT = Duration.ofSeconds(10);

    private final SmallRyeConfig config;
    private final @Nullable Path file;
    private final SettingsReader reader;

    private ConfigurationReader(SmallRyeConfig config, Set<String> environment, @Nullable Path file) {
        this.config = config;
        this.file = file;
        this.reader = new SettingsReader(config, environment, this::place);
    }

    /**
     * Reads the configuration of this process.
     *
     * @param file properties in UTF-8; null: none
     * @throws RelayException with {@link ExitCode#USAGE}, its message lists all that is wrong
     */
    public static RelayConfig read(@Nullable Path file) {
        Map<String, String> properties = new HashMap<>();
        Properties system = System.getProperties();
        system.stringPropertyNames().forEach(name -> properties.put(name, system.getProperty(name)));
        return read(file, System.getenv(), properties);
    }

    /** As {@link #read(Path)}, from given places. */
    public static RelayConfig read(
            @Nullable Path file, Map<String, String> environment, Map<String, String> systemProperties) {
        List<ConfigSource> sources = new ArrayList<>();
        if (file != null) {
            sources.add(fileSource(file));
        }
        sources.add(new EnvConfigSource(environment, ENVIRONMENT_ORDINAL));
        sources.add(new PropertiesConfigSource(systemProperties, "system properties", SYSTEM_PROPERTIES_ORDINAL));
        SmallRyeConfig config = new SmallRyeConfigBuilder()
                .addDefaultInterceptors()
                .withSources(sources)
                .build();
        return new ConfigurationReader(config, environment.keySet(), file).read();
    }

    private RelayConfig read() {
        reader.read(RelaySettings.ALL);
        refuseEqualTokens();
        Optional<OutboxSchema> tables = TableSettings.read(reader);
        Map<String, String> kafka = reader.readBelow(KafkaSettings.PREFIX, KafkaSettings.names());
        KafkaSettings.problems(kafka).forEach((name, problem) -> reader.report(KafkaSettings.PREFIX + name, problem));
        RelayConfig.Telemetry telemetry = telemetry();
        reader.allow(RelaySettings.OF_APPLICATIONS);
        reader.explainDropped(RelaySettings.DROPPED);
        reader.refuseUnknown("twinbox.", "twinbox.inbox.");
        if (!reader.problems().isEmpty()) {
            throw new RelayException(ExitCode.USAGE, message(reader.problems()));
        }
        return config(tables.orElseThrow(), new RelayConfig.Kafka(kafka), telemetry);
    }

    private void refuseEqualTokens() {
        Optional<Secret> reading = reader.find(RelaySettings.HTTP_READER_TOKEN);
        if (reading.isPresent() && reading.equals(reader.find(RelaySettings.HTTP_OPERATOR_TOKEN))) {
            reader.report(
                    RelaySettings.HTTP_READER_TOKEN.key(),
                    "must differ from " + RelaySettings.HTTP_OPERATOR_TOKEN.key()
                            + ": whoever may read could change everything");
        }
    }

    private RelayConfig.Http http() {
        return new RelayConfig.Http(
                reader.get(RelaySettings.HTTP_HOST),
                reader.get(RelaySettings.HTTP_PORT),
                reader.find(RelaySettings.HTTP_NAMES).orElse(Set.of()),
                reader.find(RelaySettings.HTTP_READER_TOKEN).orElse(null),
                reader.find(RelaySettings.HTTP_OPERATOR_TOKEN).orElse(null),
                reader.get(RelaySettings.HTTP_INSECURE),
                reader.get(RelaySettings.HTTP_PAYLOADS));
    }

    private static ConfigSource fileSource(Path file) {
        if (!Files.isReadable(file) || Files.isDirectory(file)) {
            throw new RelayException(
                    ExitCode.USAGE,
                    "configuration file " + file.toAbsolutePath() + " cannot be read: "
                            + (Files.exists(file) ? "it is a folder or its permissions forbid it" : "it does not exist")
                            + "; correct --config");
        }
        try {
            return new PropertiesConfigSource(file.toUri().toURL(), FILE_ORDINAL);
        } catch (IOException | IllegalArgumentException e) {
            throw new RelayException(
                    ExitCode.USAGE,
                    "configuration file " + file.toAbsolutePath() + " is not a UTF-8 properties file: " + e.getMessage()
                            + "; correct it",
                    e);
        }
    }

    private static String message(List<String> problems) {
        return "the configuration has " + problems.size() + (problems.size() == 1 ? " problem" : " problems") + "\n  - "
                + String.join("\n  - ", problems);
    }

    /** OpenTelemetry checks its own settings. The relay checks only whether it is on. */
    private RelayConfig.Telemetry telemetry() {
        String prefix = RelayConfig.Telemetry.PREFIX;
        Set<String> names = new TreeSet<>(Set.of(RelayConfig.Telemetry.DISABLED.substring(prefix.length())));
        for (String name : config.getPropertyNames()) {
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

    private String place(String key) {
        ConfigValue value = config.getConfigValue(key);
        return switch (value.getConfigSourceOrdinal()) {
            case FILE_ORDINAL -> " (" + file + ":" + value.getLineNumber() + ")";
            case ENVIRONMENT_ORDINAL -> " (environment)";
            case SYSTEM_PROPERTIES_ORDINAL -> " (system properties)";
            default -> "";
        };
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
                        reader.get(RelaySettings.STALL_TIMEOUT), reader.get(RelaySettings.WAITING_LIMIT)),
                http(),
                READY_TIMEOUT,
                reader.get(RelaySettings.SHUTDOWN_TIMEOUT),
                reader.get(RelaySettings.LOG_LEVEL),
                reader.get(RelaySettings.LOG_FORMAT),
                telemetry,
                reader.find(RelaySettings.RETENTION).orElse(null));
    }
}
