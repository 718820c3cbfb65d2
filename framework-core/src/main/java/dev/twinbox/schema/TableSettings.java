package dev.twinbox.schema;

import dev.twinbox.config.Setting;
import dev.twinbox.config.SettingsReader;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The settings that say where the outbox's tables are. An application and its relay read the same keys for their names
 * and must agree on them.
 */
public final class TableSettings {

    /** The application's alone: the relay has a URL. */
    public static final Setting<String> DATA_SOURCE = Setting.jndiName(
            "twinbox.outbox.data-source",
            "JTA data source of the database that holds the business tables, for example `java:app/jdbc/orders`.");

    public static final Setting<String> SCHEMA = Setting.identifier(
                    "twinbox.outbox.schema",
                    "Schema of the outbox tables. Unset: unqualified names, the connection's `search_path` "
                            + "(or `currentSchema` of the URL) decides.",
                    OutboxSchema::checkSchema)
            .optional();

    public static final Setting<String> TABLE = Setting.identifier(
                    "twinbox.outbox.table",
                    "Table of the events. The other tables, its slots and its sequence are named after it: `outbox_position` and "
                            + "`outbox_lease` for `outbox_event`.",
                    OutboxSchema::checkTable)
            .withDefault(OutboxSchema.DEFAULT_TABLE);

    /** Those that name tables, in the order of the documentation. */
    public static final List<Setting<?>> ALL = List.of(SCHEMA, TABLE);

    private static final String DERIVED =
            "remove it. All tables are named after " + TABLE.key() + ": outbox_event, outbox_position, outbox_lease";

    /** Keys of the past, and what to do instead. */
    private static final Map<String, String> DROPPED =
            Map.of("twinbox.outbox.position-table", DERIVED, "twinbox.outbox.lease-table", DERIVED);

    private TableSettings() {}

    /**
     * Reads the names and makes the tables of them.
     *
     * @return empty if something is wrong, which the reader has as a problem then
     */
    public static Optional<OutboxSchema> read(SettingsReader reader) {
        reader.read(ALL);
        reader.explainDropped(DROPPED);
        return reader.combine(ALL, () -> new OutboxSchema(reader.find(SCHEMA).orElse(null), reader.get(TABLE)));
    }
}
