package dev.twinbox.schema;

import dev.twinbox.config.Setting;
import dev.twinbox.config.SettingsReader;
import java.util.List;
import java.util.Optional;

/**
 * The settings that name the outbox's tables. An application and its relay read the same keys and must agree on them.
 */
public final class TableSettings {

    public static final Setting<String> SCHEMA = Setting.identifier(
                    "twinbox.outbox.schema",
                    "Schema of the outbox tables. Unset: unqualified names, the connection's `search_path` "
                            + "(or `currentSchema` of the URL) decides.",
                    OutboxSchema::checkSchema)
            .optional();

    public static final Setting<String> TABLE = Setting.identifier(
                    "twinbox.outbox.table",
                    "Table of the events; its slots and sequence are named after it.",
                    OutboxSchema::checkTable)
            .withDefault(OutboxSchema.DEFAULT_TABLE);

    public static final Setting<String> POSITION_TABLE = Setting.identifier(
                    "twinbox.outbox.position-table",
                    "Table of the relay's positions.",
                    OutboxSchema::checkPositionTable)
            .withDefault(OutboxSchema.DEFAULT_POSITION_TABLE);

    public static final Setting<String> LEASE_TABLE = Setting.identifier(
                    "twinbox.outbox.lease-table", "Table of the relay's lease.", OutboxSchema::checkLeaseTable)
            .withDefault(OutboxSchema.DEFAULT_LEASE_TABLE);

    /** All of them, in the order of the documentation. */
    public static final List<Setting<?>> ALL = List.of(SCHEMA, TABLE, POSITION_TABLE, LEASE_TABLE);

    private TableSettings() {}

    /**
     * Reads all of them and makes the tables of them.
     *
     * @return empty if something is wrong, which the reader has as a problem then
     */
    public static Optional<OutboxSchema> read(SettingsReader reader) {
        reader.read(ALL);
        return reader.combine(
                ALL,
                () -> new OutboxSchema(
                        reader.find(SCHEMA).orElse(null),
                        reader.get(TABLE),
                        reader.get(POSITION_TABLE),
                        reader.get(LEASE_TABLE)));
    }
}
