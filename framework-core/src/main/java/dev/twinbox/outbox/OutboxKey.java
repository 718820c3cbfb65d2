package dev.twinbox.outbox;

import dev.twinbox.schema.OutboxSchema;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Every key an application may set below {@code twinbox.outbox.}; {@code docs/configuration.md} is checked against it. */
enum OutboxKey {
    DATA_SOURCE(
            "data-source",
            "JNDI name",
            null,
            "JTA data source of the database that holds the business tables, e.g. java:app/jdbc/orders"),
    SOURCE("source", "URI-reference", null, "CloudEvents source of all events of this application, e.g. /orders"),
    SCHEMA("schema", "identifier", "", "schema of the tables; unset: found by the connection's search_path"),
    TABLE("table", "identifier", OutboxSchema.DEFAULT_TABLE, "table of events"),
    POSITION_TABLE(
            "position-table",
            "identifier",
            OutboxSchema.DEFAULT_POSITION_TABLE,
            "table of relay positions; used by the relay"),
    LEASE_TABLE(
            "lease-table", "identifier", OutboxSchema.DEFAULT_LEASE_TABLE, "table of relay leases; used by the relay"),
    MAX_PAYLOAD_BYTES(
            "max-payload-bytes",
            "bytes",
            "900000",
            "largest payload of one event; with its attributes it has to fit the topic's max.message.bytes"),
    MAX_EVENTS_PER_TRANSACTION("max-events-per-transaction", "count", "10000", "most events of one transaction"),
    MAX_BYTES_PER_TRANSACTION(
            "max-bytes-per-transaction",
            "bytes",
            "67108864",
            "most bytes of one transaction's events together; they stay in memory until it commits");

    static final String PREFIX = "twinbox.outbox.";

    private final String key;
    private final String type;
    private final @Nullable String defaultValue;
    private final String meaning;

    /** @param defaultValue null: required; empty: optional without a default */
    OutboxKey(String name, String type, @Nullable String defaultValue, String meaning) {
        this.key = PREFIX + name;
        this.type = type;
        this.defaultValue = defaultValue;
        this.meaning = meaning;
    }

    /** The full key, {@code twinbox.outbox.…}. */
    String key() {
        return key;
    }

    String type() {
        return type;
    }

    boolean isRequired() {
        return defaultValue == null;
    }

    /** Empty where the key is required, and where nothing stands in for it. */
    Optional<String> defaultValue() {
        return Optional.ofNullable(defaultValue).filter(value -> !value.isEmpty());
    }

    String meaning() {
        return meaning;
    }

    /** The environment variable that MicroProfile Config reads for a key (MicroProfile Config 3.1, "Environment Variables"). */
    static String environmentName(String key) {
        return key.replaceAll("[^A-Za-z0-9]", "_").toUpperCase(Locale.ROOT);
    }
}
