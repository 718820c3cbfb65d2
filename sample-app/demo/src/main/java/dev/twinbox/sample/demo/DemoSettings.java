package dev.twinbox.sample.demo;

import dev.twinbox.fixtures.Ports;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The ports of the demo, all on 127.0.0.1.
 *
 * @param ports one port for each {@link Use}
 */
record DemoSettings(Map<Use, Integer> ports) {

    private static final String PREFIX = "twinbox.demo.";

    /** Set by the launcher: where the built files are. Not a setting for people. */
    static final String ROOT = PREFIX + "root";

    /** What listens, and where unless told otherwise. */
    enum Use {
        PAGE("page", "the web page", 8400),
        ORDERS("orders", "the orders service", 8401),
        SHIPPING("shipping", "the shipping service", 8402),
        RELAY("relay", "the relay's health and metrics", 8403),
        POSTGRES("postgres", "PostgreSQL", 8404),
        KAFKA("kafka", "Kafka", 8405);

        private final String key;
        private final String meaning;
        private final int defaultPort;

        Use(String name, String meaning, int defaultPort) {
            this.key = PREFIX + name + ".port";
            this.meaning = meaning;
            this.defaultPort = defaultPort;
        }

        String key() {
            return key;
        }

        String meaning() {
            return meaning;
        }

        int defaultPort() {
            return defaultPort;
        }
    }

    DemoSettings {
        ports = Map.copyOf(ports);
    }

    int port(Use use) {
        return ports.getOrDefault(use, use.defaultPort());
    }

    /**
     * Reads the settings.
     *
     * @throws IllegalArgumentException naming all that is wrong at once: unknown keys, values that are no port, ports given twice
     */
    static DemoSettings from(Properties properties) {
        List<String> problems = new ArrayList<>(unknownKeys(properties));
        Map<Use, Integer> ports = new EnumMap<>(Use.class);
        for (Use use : Use.values()) {
            String value = properties.getProperty(use.key(), String.valueOf(use.defaultPort()));
            int port = parsePort(value);
            if (port == 0) {
                problems.add("-D" + use.key() + "=" + value + " is not a port: give a number from 1 to 65535");
            } else if (ports.containsValue(port)) {
                problems.add("-D" + use.key() + "=" + port + ": another part of the demo has this port already");
            } else {
                ports.put(use, port);
            }
        }
        if (!problems.isEmpty()) {
            throw new IllegalArgumentException(String.join(System.lineSeparator(), problems));
        }
        return new DemoSettings(ports);
    }

    /** Ports that nobody uses, for tests. */
    static DemoSettings withFreePorts() {
        return new DemoSettings(Arrays.stream(Use.values()).collect(Collectors.toMap(use -> use, use -> Ports.pick())));
    }

    /**
     * Checks that all ports can be listened on.
     *
     * @throws IllegalStateException naming every port in use, what it is for and the property that changes it
     */
    void requireFreePorts() {
        List<String> problems = new ArrayList<>();
        for (Use use : Use.values()) {
            try {
                Ports.requireFree(port(use), use.meaning());
            } catch (IllegalStateException inUse) {
                problems.add(inUse.getMessage() + System.lineSeparator() + "  Another port: ./sample-app/run demo -D"
                        + use.key() + "=<port>");
            }
        }
        if (!problems.isEmpty()) {
            throw new IllegalStateException(String.join(System.lineSeparator(), problems));
        }
    }

    private static List<String> unknownKeys(Properties properties) {
        Set<String> known = Arrays.stream(Use.values()).map(Use::key).collect(Collectors.toSet());
        return properties.stringPropertyNames().stream()
                .filter(key -> key.startsWith(PREFIX) && !key.equals(ROOT) && !known.contains(key))
                .sorted()
                .map(key -> "-D" + key + ": there is no such setting; there are "
                        + known.stream().sorted().collect(Collectors.joining(", ")))
                .toList();
    }

    private static int parsePort(String value) {
        try {
            int port = Integer.parseInt(value);
            return port >= 1 && port <= 65535 ? port : 0;
        } catch (NumberFormatException e) {
            return 0;
        }
    }
}
