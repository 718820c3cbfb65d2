package dev.twinbox.console.config;

import dev.twinbox.config.SettingsReader;
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
import java.util.Map;
import java.util.Properties;
import org.eclipse.microprofile.config.spi.ConfigSource;
import org.jspecify.annotations.Nullable;

/**
 * The configuration of a process: a file, the environment and system properties. The later one of these wins.
 *
 * @param names of all keys that are set
 * @param reader of the settings; its messages say where a key is set
 */
public record ProcessConfig(Iterable<String> names, SettingsReader reader) {
    private static final int FILE_ORDINAL = 100;
    private static final int ENVIRONMENT_ORDINAL = 300;
    private static final int SYSTEM_PROPERTIES_ORDINAL = 400;

    /** The system properties of this process. */
    public static Map<String, String> systemProperties() {
        Map<String, String> properties = new HashMap<>();
        Properties system = System.getProperties();
        system.stringPropertyNames().forEach(name -> properties.put(name, system.getProperty(name)));
        return properties;
    }

    /**
     * Reads these places.
     *
     * @param file properties in UTF-8; null: none
     * @throws IllegalArgumentException if the file cannot be read
     */
    public static ProcessConfig of(
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
        return new ProcessConfig(
                config.getPropertyNames(),
                new SettingsReader(config, environment.keySet(), key -> place(config.getConfigValue(key), file)));
    }

    private static ConfigSource fileSource(Path file) {
        if (!Files.isReadable(file) || Files.isDirectory(file)) {
            throw new IllegalArgumentException("configuration file " + file.toAbsolutePath() + " cannot be read: "
                    + (Files.exists(file) ? "it is a folder or its permissions forbid it" : "it does not exist")
                    + "; correct --config");
        }
        try {
            return new PropertiesConfigSource(file.toUri().toURL(), FILE_ORDINAL);
        } catch (IOException | IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "configuration file " + file.toAbsolutePath() + " is not a UTF-8 properties file: " + e.getMessage()
                            + "; correct it",
                    e);
        }
    }

    private static String place(ConfigValue value, @Nullable Path file) {
        return switch (value.getConfigSourceOrdinal()) {
            case FILE_ORDINAL -> " (" + file + ":" + value.getLineNumber() + ")";
            case ENVIRONMENT_ORDINAL -> " (environment)";
            case SYSTEM_PROPERTIES_ORDINAL -> " (system properties)";
            default -> "";
        };
    }

    /**
     * Fails if something is wrong with what was read.
     *
     * @throws IllegalArgumentException its message lists all that is wrong
     */
    public void throwIfWrong() {
        List<String> problems = reader.problems();
        if (!problems.isEmpty()) {
            throw new IllegalArgumentException("the configuration has " + problems.size()
                    + (problems.size() == 1 ? " problem" : " problems") + "\n  - "
                    + String.join("\n  - ", problems));
        }
    }
}
