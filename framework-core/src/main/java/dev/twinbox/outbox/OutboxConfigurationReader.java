package dev.twinbox.outbox;

import dev.twinbox.InvalidConfigurationException;
import dev.twinbox.schema.OutboxSchema;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.eclipse.microprofile.config.Config;
import org.jspecify.annotations.Nullable;

/** Reads {@code twinbox.outbox.*} from MicroProfile Config and finds all that is wrong with it, not just the first. */
final class OutboxConfigurationReader {

    /** A bytea may hold 1 GB, but a row that large passes through several memories at once. */
    private static final long LARGEST_PAYLOAD = 100_000_000;

    private static final long MOST_EVENTS = 1_000_000;

    private final Config config;
    private final Set<String> environment;
    private final List<String> problems = new ArrayList<>();

    /** @param environment names of the environment variables */
    OutboxConfigurationReader(Config config, Set<String> environment) {
        this.config = config;
        this.environment = environment;
    }

    /** @throws InvalidConfigurationException with all problems */
    static OutboxConfiguration read(Config config) {
        OutboxConfigurationReader reader =
                new OutboxConfigurationReader(config, System.getenv().keySet());
        OutboxConfiguration configuration = reader.read();
        if (configuration == null) {
            throw new InvalidConfigurationException("Configuration of the outbox", reader.problems());
        }
        return configuration;
    }

    /** All problems, one sentence each, with key, value and bound; empty if there are none. */
    static List<String> problems(Config config) {
        OutboxConfigurationReader reader =
                new OutboxConfigurationReader(config, System.getenv().keySet());
        reader.read();
        return reader.problems();
    }

    /** Whether anything below {@code twinbox.outbox.} is configured. */
    static boolean isPresent(Config config) {
        return StreamSupport.stream(config.getPropertyNames().spliterator(), false)
                .anyMatch(name -> name.startsWith(OutboxKey.PREFIX)
                        || name.startsWith(OutboxKey.environmentName(OutboxKey.PREFIX)));
    }

    /** One sentence each, with key, value and bound; complete after {@link #read()}. */
    List<String> problems() {
        return List.copyOf(problems);
    }

    /** Null if there are problems. */
    @Nullable OutboxConfiguration read() {
        findUnknownKeys();
        String dataSource = text(OutboxKey.DATA_SOURCE);
        String source = source();
        OutboxSchema schema = schema();
        long maxPayload = number(OutboxKey.MAX_PAYLOAD_BYTES, LARGEST_PAYLOAD);
        long maxEvents = number(OutboxKey.MAX_EVENTS_PER_TRANSACTION, MOST_EVENTS);
        long maxBytes = number(OutboxKey.MAX_BYTES_PER_TRANSACTION, Integer.MAX_VALUE);
        if (maxPayload > 0 && maxBytes > 0 && maxBytes < maxPayload) {
            problems.add(OutboxKey.MAX_BYTES_PER_TRANSACTION.key() + " = " + maxBytes + " is less than "
                    + OutboxKey.MAX_PAYLOAD_BYTES.key() + " = " + maxPayload
                    + ": a transaction must be able to hold the largest event");
        }
        if (!problems.isEmpty() || dataSource == null || source == null || schema == null) {
            return null;
        }
        return new OutboxConfiguration(
                dataSource, source, schema, Math.toIntExact(maxPayload), Math.toIntExact(maxEvents), maxBytes);
    }

    private @Nullable String text(OutboxKey key) {
        String value = config.getOptionalValue(key.key(), String.class)
                .filter(text -> !text.isBlank())
                .or(key::defaultValue)
                .orElse(null);
        if (value == null && key.isRequired()) {
            problems.add(key.key() + " is missing: " + key.meaning() + " (as " + OutboxKey.environmentName(key.key())
                    + " in the environment)");
        }
        return value;
    }

    private @Nullable String source() {
        String value = text(OutboxKey.SOURCE);
        if (value == null) {
            return null;
        }
        try {
            return new URI(value).toString();
        } catch (URISyntaxException e) {
            problems.add(OutboxKey.SOURCE.key() + " = \"" + value + "\" is not a URI-reference: " + e.getReason()
                    + " at index " + e.getIndex() + "; use a form like /orders or https://shop.example/orders");
            return null;
        }
    }

    private long number(OutboxKey key, long max) {
        String value = text(key);
        if (value == null) {
            return -1;
        }
        try {
            long number = Long.parseLong(value.strip());
            if (number >= 1 && number <= max) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Not a number and out of bounds have the same remedy.
        }
        problems.add(key.key() + " = \"" + value + "\" is not a whole number from 1 to " + max);
        return -1;
    }

    private @Nullable OutboxSchema schema() {
        String schema = text(OutboxKey.SCHEMA);
        String table = text(OutboxKey.TABLE);
        String position = text(OutboxKey.POSITION_TABLE);
        String lease = text(OutboxKey.LEASE_TABLE);
        if (table == null || position == null || lease == null) {
            throw new IllegalStateException("table names have defaults");
        }
        int before = problems.size();
        if (schema != null) {
            check(OutboxKey.SCHEMA, schema, OutboxSchema::checkSchema);
        }
        check(OutboxKey.TABLE, table, OutboxSchema::checkTable);
        check(OutboxKey.POSITION_TABLE, position, OutboxSchema::checkPositionTable);
        check(OutboxKey.LEASE_TABLE, lease, OutboxSchema::checkLeaseTable);
        if (problems.size() > before) {
            return null;
        }
        try {
            return new OutboxSchema(schema, table, position, lease);
        } catch (IllegalArgumentException e) {
            problems.add(OutboxKey.TABLE.key() + ", " + OutboxKey.POSITION_TABLE.key() + ", "
                    + OutboxKey.LEASE_TABLE.key() + ": " + e.getMessage());
            return null;
        }
    }

    private void check(OutboxKey key, String value, Consumer<String> rule) {
        try {
            rule.accept(value);
        } catch (IllegalArgumentException e) {
            problems.add(key.key() + ": " + e.getMessage());
        }
    }

    /** A misspelt key would otherwise leave its default in force without a word. */
    private void findUnknownKeys() {
        Set<String> known =
                Arrays.stream(OutboxKey.values()).map(OutboxKey::key).collect(Collectors.toSet());
        Set<String> knownInEnvironment =
                known.stream().map(OutboxKey::environmentName).collect(Collectors.toSet());
        Set<String> unknown = new TreeSet<>();
        for (String name : config.getPropertyNames()) {
            if (name.startsWith(OutboxKey.PREFIX) && !known.contains(name)) {
                // Some implementations list an environment variable under a name they guessed from it.
                String variable = OutboxKey.environmentName(name);
                if (!(environment.contains(variable) && knownInEnvironment.contains(variable))) {
                    unknown.add(name);
                }
            }
        }
        environment.stream()
                .filter(name -> name.startsWith(OutboxKey.environmentName(OutboxKey.PREFIX)))
                .filter(name -> !knownInEnvironment.contains(name))
                .forEach(unknown::add);
        for (String name : unknown) {
            problems.add(name + " is unknown; known are "
                    + Arrays.stream(OutboxKey.values()).map(OutboxKey::key).collect(Collectors.joining(", ")));
        }
    }
}
