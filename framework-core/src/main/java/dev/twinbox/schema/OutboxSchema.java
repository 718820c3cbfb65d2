package dev.twinbox.schema;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The outbox's tables by their configured names; applications write to them, the relay reads them.
 *
 * @param schema null: the tables are found by the connection's {@code search_path}
 * @param table name of the event table; its slots, sequence and indexes are named after it ({@code <table>_slot0},
 *     {@code <table>_seq}, …)
 * @param positionTable name of the table of relay positions
 * @param leaseTable name of the table of relay leases
 */
public record OutboxSchema(@Nullable String schema, String table, String positionTable, String leaseTable) {

    /** Name of the event table when nothing is configured. */
    public static final String DEFAULT_TABLE = "outbox_event";

    /** Name of the position table when nothing is configured. */
    public static final String DEFAULT_POSITION_TABLE = "outbox_position";

    /** Name of the lease table when nothing is configured. */
    public static final String DEFAULT_LEASE_TABLE = "outbox_lease";

    /** How many slots the event table has; the highest is this minus one. */
    public static final int EVENT_SLOTS = 3;

    /** How many slots the position table has. */
    public static final int POSITION_SLOTS = 2;

    /** How long events are written into one slot before the next takes its turn. */
    public static final Duration SLOT_LENGTH = Duration.ofHours(1);

    private static final String LOCATION = "dev/twinbox/schema/outbox";

    /** @throws IllegalArgumentException if a name can not be a PostgreSQL identifier, that of a derived object included */
    public OutboxSchema {
        placeholders(schema, table, positionTable, leaseTable);
        history(schema, table);
    }

    /** The event table. */
    public SqlIdentifier events() {
        return new SqlIdentifier(schema, table);
    }

    /** The sequence that numbers events. */
    public SqlIdentifier eventsSequence() {
        return events().withSuffix("_seq");
    }

    /** The slot of the event table with this number, 0 to {@link #EVENT_SLOTS} - 1. */
    public SqlIdentifier eventsSlot(int number) {
        return events().withSuffix("_slot" + number);
    }

    /** The table of relay positions. */
    public SqlIdentifier position() {
        return new SqlIdentifier(schema, positionTable);
    }

    /** The slot of the position table with this number, 0 to {@link #POSITION_SLOTS} - 1. */
    public SqlIdentifier positionSlot(int number) {
        return position().withSuffix("_slot" + number);
    }

    /** The table of relay leases. */
    public SqlIdentifier lease() {
        return new SqlIdentifier(schema, leaseTable);
    }

    /**
     * Creates the tables, or brings them to the version this code needs; a schema that does not exist is created.
     *
     * @param dataSource connects as the owner of the tables to be
     * @return what was done
     */
    public SchemaMigration.Result migrate(DataSource dataSource) {
        return SchemaMigration.migrate(
                dataSource, LOCATION, history(schema, table), placeholders(schema, table, positionTable, leaseTable));
    }

    /** Named after the event table, so that several outboxes live in one schema, beside the application's own Flyway. */
    private static SqlIdentifier history(@Nullable String schema, String table) {
        return new SqlIdentifier(schema, table).withSuffix("_history");
    }

    private static Map<String, String> placeholders(
            @Nullable String schema, String table, String positionTable, String leaseTable) {
        SqlIdentifier events = new SqlIdentifier(schema, table);
        SqlIdentifier sequence = events.withSuffix("_seq");
        SqlIdentifier position = new SqlIdentifier(schema, positionTable);
        Map<String, String> names = new LinkedHashMap<>();
        names.put("events", events.sql());
        names.put("events_sequence", sequence.sql());
        names.put("events_sequence_literal", sequence.sqlLiteral());
        for (int slot = 0; slot < EVENT_SLOTS; slot++) {
            names.put("events_slot" + slot, events.withSuffix("_slot" + slot).sql());
        }
        names.put("events_seq_index", events.withSuffix("_by_seq").unqualifiedSql());
        names.put("events_tx_index", events.withSuffix("_by_tx").unqualifiedSql());
        names.put("slot_seconds", Long.toString(SLOT_LENGTH.toSeconds()));
        names.put("position", position.sql());
        for (int slot = 0; slot < POSITION_SLOTS; slot++) {
            names.put(
                    "position_slot" + slot, position.withSuffix("_slot" + slot).sql());
        }
        names.put("position_index", position.withSuffix("_by_number").unqualifiedSql());
        names.put("lease", new SqlIdentifier(schema, leaseTable).sql());
        return names;
    }
}
