package dev.twinbox.schema;

import dev.twinbox.SchemaException;
import dev.twinbox.jdbc.SqlIdentifier;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The outbox's tables. Applications write to them, the relay reads them.
 *
 * <p>All are named after the event table. Its slots, sequence and indexes have a suffix ({@code outbox_event_slot0},
 * {@code outbox_event_seq}, …). The other tables lose {@code _event} first: {@code outbox_position}, {@code
 * outbox_lease}, {@code outbox_parked}, {@code outbox_scheduled}, {@code outbox_lock}, {@code outbox_action}, {@code
 * outbox_paused}, {@code outbox_resend}.
 *
 * @param schema null: the tables are found by the connection's {@code search_path}
 * @param table name of the event table
 */
public record OutboxSchema(@Nullable String schema, String table) {

    /** Name of the event table when nothing is configured. */
    public static final String DEFAULT_TABLE = "outbox_event";

    /** Number of slots of the event table, numbered from 0. */
    public static final int EVENT_SLOTS = 3;

    /** Number of slots of the position table, numbered from 0. */
    public static final int POSITION_SLOTS = 2;

    /** The columns of the event table, in order, with their types as {@code format_type} writes them. */
    public static final Map<String, String> EVENT_COLUMNS = eventColumns();

    /** The columns of the table of scheduled events, as {@link #EVENT_COLUMNS}. */
    public static final Map<String, String> SCHEDULED_COLUMNS = scheduledColumns();

    /** The version of the tables that this code creates. */
    public static final int VERSION = 11;

    /** The oldest version of the tables that this code works with, so that code and tables need not change together. */
    public static final int OLDEST_VERSION = 2;

    /** From this version on, the table of parked events takes any event. */
    public static final int ANY_EVENT_CAN_BE_PARKED = 7;

    private static final String FIND_VERSION = """
            -- check: version of the outbox
            select case when to_regclass(?) is not null then 11 when to_regclass(?) is not null then 10
              when to_regclass(?) is not null then 9 when to_regclass(?) is not null then 8
              when exists (select from pg_index
                where indrelid = to_regclass(?) and pg_get_indexdef(indexrelid) like '%sha256(%') then 7
              when exists (select from pg_attribute
                where attrelid = to_regclass(?) and attname = 'from_floor' and not attisdropped) then 6
              when exists (select from pg_attribute
                where attrelid = to_regclass(?) and attname = 'exactly_once' and not attisdropped) then 4
              when to_regclass(?) is not null then 3 when to_regclass(?) is not null then 2
              when to_regclass(?) is not null then 1 else 0 end
            """;

    private static final String LOCATION = "dev/twinbox/schema/outbox";

    private static final String HISTORY = "_history";

    private static final String BY_NUMBER = "_by_number";

    private static final String POSITION = "_position";

    private static final String LEASE = "_lease";

    private static final String PARKED = "_parked";

    private static final String SCHEDULED = "_scheduled";

    private static final String ACTIONS = "_action";

    private static final String PAUSED = "_paused";

    private static final String RESEND = "_resend";

    /** @throws IllegalArgumentException if a name, or one derived from it, cannot be a PostgreSQL identifier */
    public OutboxSchema {
        if (schema != null) {
            checkSchema(schema);
        }
        checkTable(table);
    }

    /**
     * Checks the name of the schema alone.
     *
     * @throws IllegalArgumentException if it cannot be a schema
     */
    public static void checkSchema(String schema) {
        SqlIdentifier.check("schema", schema);
    }

    /**
     * Checks the name of the event table alone.
     *
     * @throws IllegalArgumentException if it, or the name of an object derived from it, cannot be an identifier
     */
    public static void checkTable(String table) {
        SqlIdentifier.check("table", table);
        SqlIdentifier.check("the longest name derived from the table,", table + HISTORY);
        SqlIdentifier.check(
                "the longest name derived from the table,",
                new SqlIdentifier(null, table).sibling(POSITION).name() + BY_NUMBER);
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

    /** The table of relay positions: {@code outbox_position} for {@code outbox_event}. */
    public SqlIdentifier position() {
        return events().sibling(POSITION);
    }

    /** The slot of the position table with this number, 0 to {@link #POSITION_SLOTS} - 1. */
    public SqlIdentifier positionSlot(int number) {
        return position().withSuffix("_slot" + number);
    }

    /** The table of relay leases: {@code outbox_lease} for {@code outbox_event}. */
    public SqlIdentifier lease() {
        return events().sibling(LEASE);
    }

    /** The table of parked events: {@code outbox_parked} for {@code outbox_event}. */
    public SqlIdentifier parked() {
        return events().sibling(PARKED);
    }

    /** The table of events to be sent later: {@code outbox_scheduled} for {@code outbox_event}. */
    public SqlIdentifier scheduled() {
        return events().sibling(SCHEDULED);
    }

    /** The table of what operators have changed: {@code outbox_action} for {@code outbox_event}. */
    public SqlIdentifier actions() {
        return events().sibling(ACTIONS);
    }

    /** The table of topics that are paused: {@code outbox_paused} for {@code outbox_event}. */
    public SqlIdentifier paused() {
        return events().sibling(PAUSED);
    }

    /** The table of jobs that send events again: {@code outbox_resend} for {@code outbox_event}. */
    public SqlIdentifier resend() {
        return events().sibling(RESEND);
    }

    /** The table of locks: {@code outbox_lock} for {@code outbox_event}. */
    public LockSchema locks() {
        return LockSchema.of(events());
    }

    /**
     * Creates the tables, or brings them to the version that this code needs. A schema that does not exist is created.
     *
     * <p>Several outboxes can live in one schema, beside the application's own Flyway: the history of migrations is in
     * a table named after the event table.
     *
     * @param dataSource connects as the future owner of the tables
     * @return what was done
     */
    public SchemaMigration.Result migrate(DataSource dataSource) {
        return SchemaMigration.migrate(dataSource, LOCATION, events().withSuffix(HISTORY), placeholders());
    }

    /**
     * The SQL that {@link #migrate} and {@link #retain} would run, for those who run it themselves.
     *
     * @param after version of the tables that are there; 0: there are none
     * @param retention null: that of the tables stays
     */
    public String script(int after, @Nullable Retention retention) {
        String migrations = SchemaScript.of(OutboxSchema.class, LOCATION, schema, placeholders(), after);
        return retention == null ? migrations : migrations + SlotDefault.change(events(), retention) + ";\n";
    }

    /**
     * Sets how long the event table keeps what is sent. Applications may go on writing: the table's lock is taken for a
     * moment, and tried again later if it is not free.
     *
     * @param dataSource connects as the owner of the tables
     * @return the retention before; null: the owner had another rule for slots
     * @throws SchemaException if the table's lock was never free
     */
    public @Nullable Retention retain(DataSource dataSource, Retention retention) {
        try (Connection connection = dataSource.getConnection()) {
            SlotDefault slots = new SlotDefault(connection, events());
            Retention before = slots.retention();
            if (!retention.equals(before)) {
                slots.set(retention);
            }
            return before;
        } catch (SQLException e) {
            throw new SchemaException(
                    "The retention of " + events() + " cannot be set: " + e.getMessage() + ". Run migrate again", e);
        }
    }

    /**
     * The version of the tables, judged by the newest table, column or index that exists; 0: there are none.
     *
     * @param connection of any role, since only the owner may read the history of migrations
     */
    public int version(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(FIND_VERSION)) {
            List<SqlIdentifier> newestFirst = List.of(
                    resend(),
                    paused(),
                    actions(),
                    locks().table(),
                    parked(),
                    position(),
                    lease(),
                    scheduled(),
                    parked());
            for (int i = 0; i < newestFirst.size(); i++) {
                statement.setString(i + 1, newestFirst.get(i).sql());
            }
            statement.setString(newestFirst.size() + 1, events().sql());
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getInt(1);
            }
        }
    }

    /**
     * How long the event table keeps what is sent; null if its owner has another rule for slots.
     *
     * @param connection of any role
     */
    public @Nullable Retention retention(Connection connection) throws SQLException {
        return new SlotDefault(connection, events()).retention();
    }

    /**
     * The active slot: an event of the connection's current transaction would be written into it.
     *
     * @param connection of any role
     */
    public int currentSlot(Connection connection) throws SQLException {
        return new SlotDefault(connection, events()).current();
    }

    /**
     * What keeps the connection's role from writing events, one sentence each; empty if nothing does. The role needs
     * {@code INSERT} on the event table and {@code USAGE} on its sequence and schema, no more.
     */
    public List<String> problemsForWriting(Connection connection) throws SQLException {
        return new SchemaCheck(connection)
                .server()
                .table(events(), EVENT_COLUMNS, "INSERT")
                .sequence(eventsSequence(), "USAGE")
                .problems();
    }

    /**
     * As {@link #problemsForWriting}, for scheduled events. The role needs {@code INSERT} on their table.
     */
    public List<String> problemsForScheduling(Connection connection) throws SQLException {
        return new SchemaCheck(connection)
                .table(scheduled(), SCHEDULED_COLUMNS, "INSERT")
                .problems();
    }

    private Map<String, String> placeholders() {
        Map<String, String> names = new LinkedHashMap<>();
        names.put("events", events().sql());
        names.put("events_sequence", eventsSequence().sql());
        names.put("events_sequence_literal", eventsSequence().sqlLiteral());
        for (int slot = 0; slot < EVENT_SLOTS; slot++) {
            names.put("events_slot" + slot, eventsSlot(slot).sql());
        }
        names.put("events_seq_index", events().withSuffix("_by_seq").unqualifiedSql());
        names.put("events_tx_index", events().withSuffix("_by_tx").unqualifiedSql());
        names.put(
                "slot_seconds",
                Long.toString(Objects.requireNonNull(Retention.DEFAULT.slot()).toSeconds()));
        names.put("position", position().sql());
        for (int slot = 0; slot < POSITION_SLOTS; slot++) {
            names.put("position_slot" + slot, positionSlot(slot).sql());
        }
        names.put("position_index", position().withSuffix(BY_NUMBER).unqualifiedSql());
        names.put("lease", lease().sql());
        names.put("parked", parked().sql());
        names.put("parked_literal", parked().sqlLiteral());
        names.put("scheduled", scheduled().sql());
        names.put("actions", actions().sql());
        names.put("paused", paused().sql());
        names.put("resend", resend().sql());
        names.putAll(locks().placeholders());
        return names;
    }

    private static Map<String, String> scheduledColumns() {
        Map<String, String> columns = new LinkedHashMap<>(EVENT_COLUMNS);
        columns.remove("seq");
        columns.remove("slot");
        columns.put("number", "bigint");
        columns.put("deliver_at", "timestamp with time zone");
        return Collections.unmodifiableMap(columns);
    }

    private static Map<String, String> eventColumns() {
        Map<String, String> columns = new LinkedHashMap<>();
        columns.put("tx", "xid8");
        columns.put("seq", "bigint");
        columns.put("slot", "smallint");
        columns.put("id", "uuid");
        columns.put("topic", "text");
        columns.put("key", "text");
        columns.put("type", "text");
        columns.put("source", "text");
        columns.put("subject", "text");
        columns.put("occurred_at", "timestamp with time zone");
        columns.put("content_type", "text");
        columns.put("headers", "text[]");
        columns.put("payload", "bytea");
        return Collections.unmodifiableMap(columns);
    }
}
