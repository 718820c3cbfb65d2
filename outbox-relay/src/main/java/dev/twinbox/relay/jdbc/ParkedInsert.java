package dev.twinbox.relay.jdbc;

import dev.twinbox.jdbc.FailureSubject;
import dev.twinbox.jdbc.SqlState;
import dev.twinbox.schema.OutboxSchema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Puts events into the table of parked events. The rows are copied within the database, so that a row that the relay
 * cannot read can still be parked.
 *
 * <p>A row that the table does not take must not hold up all others. It is parked with the columns that the table does
 * take, and its error says what was left out. Such a row can never be sent, because its content type is left out, too.
 * Otherwise a retry would send an incomplete event.
 */
public final class ParkedInsert {
    private static final String PARK = """
            -- relay: park events
            insert into {parked} (relay, {states}, partition, error, attempts, {event})
            select ?, {values}, a.partition, a.error, case a.state when 'refused' then 1 else 0 end, {columns}
            from unnest(?::bigint[], ?::text[], ?::int[], ?::text[]) with ordinality a(seq, state, partition, error, n)
            cross join lateral (select {event} from {events} o where o.seq = a.seq limit 1) e
            order by a.n
            """;

    private static final String CONTENT_TYPE = "content_type";

    /** What may be left out, in this order. The key comes last, because later events of the key wait for the row. */
    private static final List<Set<String>> LEFT_OUT = List.of(
            Set.of(CONTENT_TYPE),
            Set.of("headers", CONTENT_TYPE),
            Set.of("payload", CONTENT_TYPE),
            Set.of("subject", CONTENT_TYPE),
            Set.of("source", CONTENT_TYPE),
            Set.of("type", CONTENT_TYPE),
            Set.of("occurred_at", CONTENT_TYPE),
            Set.of("id", CONTENT_TYPE),
            Set.of("id", "type", "source", "subject", "occurred_at", "headers", "payload", CONTENT_TYPE),
            Set.of("id", "key", "type", "source", "subject", "occurred_at", "headers", "payload", CONTENT_TYPE));

    private static final List<String> COLUMNS = List.of(WindowRows.COLUMNS.split(", "));

    private enum Validity {
        DECIDED("state", "a.state"),
        UNDECIDED("state, decided_state", "'undecided', a.state");

        private final String columns;
        private final String values;

        Validity(String columns, String values) {
            this.columns = columns;
            this.values = values;
        }
    }

    private final Connection connection;
    private final ParkedTable table;
    private final OutboxSchema schema;
    private final String relay;

    public ParkedInsert(Connection connection, OutboxSchema schema, String relay) {
        this.connection = connection;
        this.table = new ParkedTable(connection, schema, relay);
        this.schema = schema;
        this.relay = relay;
    }

    /** Runs within the transaction that moves the position past these events. Must never run while rows are removed. */
    public void park(List<ParkedTable.Entry> entries) throws SQLException {
        insert(entries, Validity.DECIDED);
        Set<EventKey> behind = new HashSet<>();
        for (ParkedTable.Entry entry : entries) {
            EventKey key = entry.record().key();
            if (key != null && entry.reason().state() == ParkedState.BEHIND) {
                behind.add(key);
            }
        }
        table.promote(behind); // The event that blocked these may have been sent meanwhile.
    }

    /**
     * As {@link #park}, but undecided: only the keys are blocked. {@link ParkedTable#decide} or
     * {@link ParkedTable#revoke} ends this state.
     */
    public void parkUndecided(List<ParkedTable.Entry> entries) throws SQLException {
        insert(entries, Validity.UNDECIDED);
    }

    private void insert(List<ParkedTable.Entry> entries, Validity validity) throws SQLException {
        if (tryInsert(entries, validity, Set.of()) == null) {
            return;
        }
        for (ParkedTable.Entry entry : entries) {
            SQLException refused = tryInsert(List.of(entry), validity, Set.of());
            if (refused != null) {
                insertReduced(entry, validity, refused);
            }
        }
    }

    private void insertReduced(ParkedTable.Entry entry, Validity validity, SQLException refused) throws SQLException {
        if (schema.version(connection) < OutboxSchema.ANY_EVENT_CAN_BE_PARKED) {
            throw new SQLException(
                    entry.record() + " cannot be parked: " + refused.getMessage() + ". Remedy: run \"twinbox-relay "
                            + "migrate\" as the tables' owner, newer tables take any event",
                    refused.getSQLState(),
                    refused);
        }
        for (Set<String> leftOut : LEFT_OUT) {
            ParkReason reason = ParkReason.refused(explain(leftOut, refused, entry.reason()));
            if (tryInsert(List.of(new ParkedTable.Entry(entry.record(), reason)), validity, leftOut) == null) {
                return;
            }
        }
        throw refused;
    }

    private static String explain(Set<String> leftOut, SQLException refused, ParkReason reason) {
        String columns = COLUMNS.stream().filter(leftOut::contains).collect(Collectors.joining(", "));
        String why = reason.error() == null ? "an earlier event of its key is parked" : reason.error();
        return "parked without " + columns + ", so it cannot be sent from here (" + refused.getMessage()
                + "). Remedy: publish it again if it is needed, and discard it here. It is parked because: " + why;
    }

    /** Returns why the table does not take the values; null if it has taken them. */
    private @Nullable SQLException tryInsert(List<ParkedTable.Entry> entries, Validity validity, Set<String> leftOut)
            throws SQLException {
        Savepoint before = connection.setSavepoint();
        try {
            insertAll(entries, validity, leftOut);
            connection.releaseSavepoint(before);
            return null;
        } catch (SQLException e) {
            if (SqlState.subjectOf(e) != FailureSubject.EVENT) {
                throw e;
            }
            connection.rollback(before);
            return e;
        }
    }

    private void insertAll(List<ParkedTable.Entry> entries, Validity validity, Set<String> leftOut)
            throws SQLException {
        String sql = PARK.replace("{states}", validity.columns)
                .replace("{values}", validity.values)
                .replace("{columns}", columns(leftOut));
        try (PreparedStatement park = table.prepare(sql)) {
            park.setString(1, relay);
            table.bindReasons(park, 2, entries);
            int parked = park.executeUpdate();
            if (parked != entries.size()) {
                throw new IllegalStateException("only " + parked + " of " + entries.size()
                        + " events that must be parked are in " + schema.events());
            }
        }
    }

    private static String columns(Set<String> leftOut) {
        List<String> columns = new ArrayList<>();
        for (String column : COLUMNS) {
            if (leftOut.contains(column)) {
                columns.add("null");
            } else if (column.equals("topic")) {
                columns.add("coalesce(e.topic, '')");
            } else {
                columns.add("e." + column);
            }
        }
        return String.join(", ", columns);
    }
}
