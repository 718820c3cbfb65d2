package dev.twinbox.outbox;

import dev.twinbox.InvalidConfigurationException;
import dev.twinbox.config.Setting;
import dev.twinbox.config.SettingsReader;
import dev.twinbox.schema.OutboxSchema;
import dev.twinbox.schema.TableSettings;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.Optional;
import org.eclipse.microprofile.config.Config;

/** What an application may set below {@code twinbox.outbox.} for writing. The documentation is checked against it. */
final class OutboxSettings {

    static final String PREFIX = "twinbox.outbox.";

    static final Setting<String> DATA_SOURCE = TableSettings.DATA_SOURCE;

    static final Setting<String> SOURCE = Setting.of(
            PREFIX + "source",
            "URI-reference",
            "CloudEvents source of all events of this application, for example `/orders`.",
            OutboxSettings::uriReference);

    /** A bytea may hold 1 GB, but a row that large passes through several memories at once. */
    static final Setting<Integer> MAX_PAYLOAD_BYTES = Setting.integer(
                    PREFIX + "max-payload-bytes",
                    1,
                    100_000_000,
                    "Largest payload of one event. Payload and attributes together must fit the topic's "
                            + "`max.message.bytes`.")
            .withDefault("900000");

    static final Setting<Integer> MAX_EVENTS_PER_TRANSACTION = Setting.integer(
                    PREFIX + "max-events-per-transaction", 1, 1_000_000, "Most events of one transaction.")
            .withDefault("10000");

    static final Setting<Integer> MAX_BYTES_PER_TRANSACTION = Setting.integer(
                    PREFIX + "max-bytes-per-transaction",
                    1,
                    Integer.MAX_VALUE,
                    "Most bytes of all events of one transaction. They stay in memory until it commits.")
            .withDefault("67108864");

    /** Those of the producer alone; {@link TableSettings} are shared with the relay. */
    static final List<Setting<?>> ALL =
            List.of(DATA_SOURCE, SOURCE, MAX_PAYLOAD_BYTES, MAX_EVENTS_PER_TRANSACTION, MAX_BYTES_PER_TRANSACTION);

    private OutboxSettings() {}

    /** Whether anything below {@code twinbox.outbox.} is set. */
    static boolean isAnySet(Config config) {
        return reader(config).isAnySet(PREFIX);
    }

    /** All problems, one sentence each; empty if there are none. */
    static List<String> problems(Config config) {
        try {
            read(config);
            return List.of();
        } catch (InvalidConfigurationException e) {
            return e.problems();
        }
    }

    /** @throws InvalidConfigurationException with all problems */
    static OutboxConfiguration read(Config config) {
        return read(reader(config));
    }

    static OutboxConfiguration read(SettingsReader reader) {
        reader.read(ALL);
        Optional<OutboxSchema> schema = TableSettings.read(reader);
        reader.requireAtMost(
                MAX_PAYLOAD_BYTES, MAX_BYTES_PER_TRANSACTION, "a transaction must be able to hold the largest event");
        reader.refuseUnknown(PREFIX);
        reader.throwIfWrong("Configuration of the outbox");
        return new OutboxConfiguration(
                reader.get(DATA_SOURCE),
                reader.get(SOURCE),
                schema.orElseThrow(),
                reader.get(MAX_PAYLOAD_BYTES),
                reader.get(MAX_EVENTS_PER_TRANSACTION),
                reader.get(MAX_BYTES_PER_TRANSACTION));
    }

    private static SettingsReader reader(Config config) {
        return new SettingsReader(config, System.getenv().keySet());
    }

    private static String uriReference(String value) {
        try {
            return new URI(value).toString();
        } catch (URISyntaxException e) {
            throw new IllegalArgumentException(
                    "must be a URI-reference such as /orders or https://shop.example/orders: " + e.getReason()
                            + " at index " + e.getIndex(),
                    e);
        }
    }
}
