package dev.twinbox.sample.demo;

import dev.twinbox.fixtures.Ports;
import dev.twinbox.proof.appserver.Product;
import dev.twinbox.proof.landscape.Part;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The ports of the demo, all on 127.0.0.1, and its application server.
 *
 * @param ports one port for each {@link Use}
 * @param product null: Payara Micro 6, set up for the sample
 */
record DemoSettings(Map<Use, Integer> ports, @Nullable Product product) {

    private static final String PREFIX = "twinbox.demo.";

    /** Set by sample-app/run: the folder with the built files. */
    static final String ROOT = "twinbox.root";

    private static final String SERVER = "server";

    /** What listens on a port, and its default port. */
    enum Use {
        PAGE("page", "the web page", 8400, null),
        ORDERS("orders", "the orders service", 8401, Part.PRODUCER),
        SHIPPING("shipping", "the shipping service", 8402, Part.RECEIVER_1),
        RELAY("relay", "the relay's health and metrics", 8403, Part.RELAY_1),
        POSTGRES("postgres", "PostgreSQL", 8404, Part.POSTGRES),
        KAFKA("kafka", "Kafka", 8405, Part.BROKER_1);

        private final String key;
        private final String meaning;
        private final int defaultPort;
        private final @Nullable Part part;

        Use(String name, String meaning, int defaultPort, @Nullable Part part) {
            this.key = PREFIX + name + ".port";
            this.meaning = meaning;
            this.defaultPort = defaultPort;
            this.part = part;
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
     * @throws IllegalArgumentException if keys or the server are unknown, values are no ports or ports are given twice;
     *     the message names all of them
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
                problems.add("-D" + use.key() + "=" + port + ": another part of the demo has this port");
            } else {
                ports.put(use, port);
            }
        }
        String label = properties.getProperty(SERVER);
        Optional<Product> product = label == null ? Optional.empty() : Product.labelled(label);
        if (label != null && product.isEmpty()) {
            problems.add("-D" + SERVER + "=" + label + " is no server of the sample: give one of " + Product.labels());
        }
        if (!problems.isEmpty()) {
            throw new IllegalArgumentException(String.join(System.lineSeparator(), problems));
        }
        return new DemoSettings(ports, product.orElse(null));
    }

    /** The ports of the processes. */
    Map<Part, Integer> partPorts() {
        Map<Part, Integer> parts = new EnumMap<>(Part.class);
        ports.forEach((use, port) -> {
            if (use.part != null) {
                parts.put(use.part, port);
            }
        });
        return parts;
    }

    /**
     * Checks that all ports can be listened on.
     *
     * @throws IllegalStateException if ports are in use; the message names each with the property that changes it
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
                .filter(key -> key.startsWith(PREFIX) && !known.contains(key))
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
