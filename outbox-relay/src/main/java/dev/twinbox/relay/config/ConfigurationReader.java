package dev.twinbox.relay.config;

import dev.twinbox.relay.config.Setting.Presence;
import dev.twinbox.schema.OutboxSchema;
import io.smallrye.config.ConfigValue;
import io.smallrye.config.EnvConfigSource;
import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfig;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.TreeSet;
import org.eclipse.microprofile.config.spi.ConfigSource;
import org.jspecify.annotations.Nullable;

/**
 * Turns a file, the environment and system properties into a {@link RelayConfig}; the later one of these wins. Reports all
 * problems at once, each with key, value, where it stands and what would be legal.
 */
public final class ConfigurationReader {

    private static final int FILE_ORDINAL = 100;
    private static final int ENVIRONMENT_ORDINAL = 300;
    private static final int SYSTEM_PROPERTIES_ORDINAL = 400;

    private final List<String> problems = new ArrayList<>();
    private final Map<Setting<?>, Object> values = new HashMap<>();
    private final Map<String, String> kafka = new HashMap<>();
    private final Map<String, String> telemetry = new HashMap<>();
    private final SmallRyeConfig config;
    private final @Nullable Path file;

    private ConfigurationReader(SmallRyeConfig config, @Nullable Path file) {
        this.config = config;
        this.file = file;
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
        ConfigurationReader reader = new ConfigurationReader(config, file);
        reader.parse();
        reader.checkAcrossKeys();
        sources.stream().filter(source -> !(source instanceof EnvConfigSource)).forEach(reader::refuseUnknown);
        new TreeSet<>(environment.keySet()).forEach(reader::refuseUnknownVariable);
        if (!reader.problems.isEmpty()) {
            throw new RelayException(ExitCode.USAGE, message(reader.problems));
        }
        return reader.config();
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

    private void parse() {
        for (Setting<?> setting : RelaySettings.ALL) {
            parse(setting);
        }
        for (String name : KafkaSettings.names()) {
            String value = text(KafkaSettings.PREFIX + name);
            if (value != null) {
                kafka.put(name, value);
            }
        }
        KafkaSettings.problems(kafka).forEach((name, problem) -> {
            String key = KafkaSettings.PREFIX + name;
            report(key, KafkaSettings.isSecret(name) ? Secret.MASK : kafka.get(name), problem);
        });
        parseTelemetry();
    }

    /** Their meaning is OpenTelemetry's to know, but for the switch. */
    private void parseTelemetry() {
        for (String name : config.getPropertyNames()) {
            String value = name.startsWith(RelayConfig.Telemetry.PREFIX) ? text(name) : null;
            if (value != null) {
                telemetry.put(name, value);
            }
        }
        String key = RelayConfig.Telemetry.DISABLED;
        String disabled = text(key);
        if (disabled != null) {
            telemetry.put(key, disabled);
            if (!disabled.equalsIgnoreCase("true") && !disabled.equalsIgnoreCase("false")) {
                report(key, disabled, "must be true or false");
            }
        }
    }

    private <T> void parse(Setting<T> setting) {
        String text = text(setting.key());
        if (text == null) {
            text = setting.fallback();
        }
        if (text == null) {
            if (setting.presence() == Presence.REQUIRED) {
                problems.add(setting.key() + " is missing: set it to "
                        + setting.type().replace("`", "") + ", or " + setting.environmentVariable()
                        + " in the environment");
            }
            return;
        }
        try {
            values.put(setting, setting.parser().apply(text));
        } catch (IllegalArgumentException e) {
            report(setting.key(), setting.shown(text), String.valueOf(e.getMessage()));
        }
    }

    /** The value with its expressions resolved; null when unset, empty or not resolvable, the last with a report. */
    private @Nullable String text(String key) {
        ConfigValue value = config.getConfigValue(key);
        if (value.hasProblems()) {
            problems.add(key + place(key)
                    + " holds an expression that cannot be resolved: define what ${...} names, or write "
                    + "\\\\${ in a file for a literal ${");
            return null;
        }
        String text = value.getValue();
        return text == null || text.isEmpty() ? null : text;
    }

    private void report(String key, @Nullable String shownValue, String problem) {
        problems.add(key + " = \"" + shownValue + "\"" + place(key) + ' ' + problem);
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

    private void checkAcrossKeys() {
        get(RelaySettings.IDLE_MIN)
                .ifPresent(min -> get(RelaySettings.IDLE_MAX).ifPresent(max -> {
                    if (min.compareTo(max) > 0) {
                        report(
                                RelaySettings.IDLE_MIN.key(),
                                min.toString(),
                                "must not exceed " + RelaySettings.IDLE_MAX.key() + " (" + max + ")");
                    }
                }));
        checkTables();
    }

    private void checkTables() {
        List<Setting<String>> tables =
                List.of(RelaySettings.TABLE, RelaySettings.POSITION_TABLE, RelaySettings.LEASE_TABLE);
        Map<String, String> keys = new HashMap<>();
        for (Setting<String> table : tables) {
            get(table).ifPresent(name -> {
                String other = keys.putIfAbsent(name, table.key());
                if (other != null) {
                    report(table.key(), name, "must not be the table of " + other);
                }
            });
        }
    }

    /** <b>Remedy.</b> Correct or remove the key. */
    private void refuseUnknown(ConfigSource source) {
        for (String name : new TreeSet<>(source.getPropertyNames())) {
            if (KnownKeys.isUnknown(name)) {
                problems.add(name + place(name) + " is unknown" + KnownKeys.suggestion(name));
            }
        }
    }

    /** <b>Remedy.</b> Correct or remove the variable. */
    private void refuseUnknownVariable(String name) {
        if (KnownKeys.isUnknown(name) || KnownKeys.isUnknownVariable(name)) {
            String key = name.toLowerCase(Locale.ROOT).replace('_', '.');
            problems.add("environment variable " + name + " stands for no known key" + KnownKeys.suggestion(key));
        }
    }

    private <T> Optional<T> get(Setting<T> setting) {
        @SuppressWarnings("unchecked") // put by parse(Setting<T>) from this setting's own parser
        T value = (T) values.get(setting);
        return Optional.ofNullable(value);
    }

    private <T> T need(Setting<T> setting) {
        return get(setting).orElseThrow();
    }

    private RelayConfig config() {
        return new RelayConfig(
                need(RelaySettings.NAME),
                new OutboxSchema(
                        get(RelaySettings.SCHEMA).orElse(null),
                        need(RelaySettings.TABLE),
                        need(RelaySettings.POSITION_TABLE),
                        need(RelaySettings.LEASE_TABLE)),
                new RelayConfig.Database(
                        need(RelaySettings.DATABASE_URL),
                        get(RelaySettings.DATABASE_USER).orElse(null),
                        get(RelaySettings.DATABASE_PASSWORD).orElse(null),
                        need(RelaySettings.CONNECT_TIMEOUT),
                        need(RelaySettings.SOCKET_TIMEOUT)),
                new RelayConfig.Kafka(kafka),
                new RelayConfig.Page(
                        need(RelaySettings.PAGE_ROWS),
                        need(RelaySettings.PAGE_BYTES),
                        need(RelaySettings.PAGE_IN_FLIGHT)),
                new RelayConfig.Delivery(
                        need(RelaySettings.DELIVERY),
                        get(RelaySettings.POSITION_TOPIC).orElse(need(RelaySettings.NAME) + "-position")),
                need(RelaySettings.LEASE),
                new RelayConfig.Idle(need(RelaySettings.IDLE_MIN), need(RelaySettings.IDLE_MAX)),
                need(RelaySettings.RETRY),
                new RelayConfig.Parking(need(RelaySettings.STALL_TIMEOUT), need(RelaySettings.WAITING_LIMIT)),
                new RelayConfig.Http(need(RelaySettings.HTTP_HOST), need(RelaySettings.HTTP_PORT)),
                need(RelaySettings.READY_TIMEOUT),
                need(RelaySettings.SHUTDOWN_TIMEOUT),
                need(RelaySettings.LOG_LEVEL),
                need(RelaySettings.LOG_FORMAT),
                new RelayConfig.Telemetry(telemetry),
                get(RelaySettings.RETENTION).orElse(null));
    }
}
