package dev.twinbox.relay.jdbc;

import dev.twinbox.schema.OutboxSchema;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The events that a relay has parked, in order within each topic and key. This class parks events and finds blocked
 * keys. Bound to one connection; not for several threads. Numbers grow with time and, within a key, in the order of the
 * window. {@link ParkedQueue} removes events again; {@link ParkedRows} serves the operator.
 */
public final class ParkedTable {
    private static final int LONGEST_ERROR = 2_000;

    private static final String ANY = """
            -- relay: is anything parked
            select exists (select from {parked} where relay = ?)
            """;

    static final String BLOCKED = """
            -- relay: blocked keys of a page
            select k.n from unnest(?::text[], ?::text[]) with ordinality k(topic, key, n)
            cross join lateral (
              select 1 from {parked} p where p.relay = ? and p.topic = k.topic and p.key = k.key limit 1) b
            """;

    /** Copies rows within the database: a row that the relay cannot read can still be parked. */
    private static final String PARK = """
            -- relay: park events
            insert into {parked} (relay, {states}, partition, error, attempts, {event})
            select ?, {values}, a.partition, a.error, case a.state when 'refused' then 1 else 0 end,
              e.seq, e.id, coalesce(e.topic, ''), e.key, e.type, e.source, e.subject, e.occurred_at, e.content_type,
              e.headers, e.payload
            from unnest(?::bigint[], ?::text[], ?::int[], ?::text[]) with ordinality a(seq, state, partition, error, n)
            cross join lateral (select {event} from {events} o where o.seq = a.seq limit 1) e
            order by a.n
            """;

    private static final String DECIDE = """
            -- relay: park undecided events for good
            update {parked} p set state = decided_state, decided_state = null
            where relay = ? and state = 'undecided'
            returning topic, key
            """;

    private static final String REVOKE = """
            -- relay: remove undecided events
            delete from {parked} where relay = ? and state = 'undecided'
            """;

    /** The row that followed the removed rows of a key is its first one now. */
    private static final String PROMOTE = """
            -- relay: next events of parked keys
            update {parked} p set state = 'ready'
            from unnest(?::text[], ?::text[]) k(topic, key)
            cross join lateral (
              select n.number, n.state from {parked} n where n.relay = ? and n.topic = k.topic and n.key = k.key
              order by n.number limit 1) f
            where p.relay = ? and p.number = f.number and f.state = 'behind'
            """;

    private static final String HOLD_LEASE = """
            -- relay: hold the lease
            select 1 from {lease} where relay = ? and owner = ? and epoch = ? for share
            """;

    /** An event of a page that is to be parked. */
    public record Entry(OutboxRecord record, ParkReason reason) {}

    private final Connection connection;
    private final OutboxSchema schema;
    private final String relay;

    public ParkedTable(Connection connection, OutboxSchema schema, String relay) {
        this.connection = connection;
        this.schema = schema;
        this.relay = relay;
    }

    public boolean hasRows() throws SQLException {
        return exists(ANY);
    }

    boolean exists(String sql) throws SQLException {
        try (PreparedStatement select = prepare(sql)) {
            select.setString(1, relay);
            try (ResultSet row = select.executeQuery()) {
                row.next();
                return row.getBoolean(1);
            }
        }
    }

    public Set<EventKey> blocked(Collection<EventKey> keys) throws SQLException {
        Set<EventKey> blocked = new HashSet<>();
        if (keys.isEmpty()) {
            return blocked;
        }
        List<EventKey> asked = List.copyOf(keys);
        try (PreparedStatement select = prepare(BLOCKED)) {
            bindKeys(select, 1, asked);
            select.setString(3, relay);
            try (ResultSet row = select.executeQuery()) {
                while (row.next()) {
                    blocked.add(asked.get(row.getInt(1) - 1));
                }
            }
        }
        return blocked;
    }

    /** Runs within the transaction that moves the position past these events. Must never run while rows are removed. */
    public void park(List<Entry> entries) throws SQLException {
        insert(entries, PARK.replace("{states}", "state").replace("{values}", "a.state"));
        Set<EventKey> behind = new HashSet<>();
        for (Entry entry : entries) {
            EventKey key = entry.record().key();
            if (key != null && entry.reason().state() == ParkedState.BEHIND) {
                behind.add(key);
            }
        }
        promote(behind); // The event that blocked these may have been sent meanwhile.
    }

    /**
     * As {@link #park}, but undecided: only the keys are blocked. {@link #decide} or {@link #revoke} ends this state.
     */
    public void parkUndecided(List<Entry> entries) throws SQLException {
        insert(entries, PARK.replace("{states}", "state, decided_state").replace("{values}", "'undecided', a.state"));
    }

    /** Parks the undecided events for good. Must never run while rows are removed. */
    public void decide() throws SQLException {
        try (PreparedStatement decide = prepare(DECIDE)) {
            decide.setString(1, relay);
            promote(keys(decide)); // The events that blocked these may have been sent meanwhile.
        }
    }

    /** Removes the undecided events, since the position did not pass them. */
    public void revoke() throws SQLException {
        try (PreparedStatement revoke = prepare(REVOKE)) {
            revoke.setString(1, relay);
            revoke.executeUpdate();
        }
    }

    static Set<EventKey> keys(PreparedStatement returningTopicAndKey) throws SQLException {
        Set<EventKey> keys = new HashSet<>();
        try (ResultSet row = returningTopicAndKey.executeQuery()) {
            while (row.next()) {
                EventKey key = key(row.getString(1), row.getString(2));
                if (key != null) {
                    keys.add(key);
                }
            }
        }
        return keys;
    }

    private void insert(List<Entry> entries, String sql) throws SQLException {
        try (PreparedStatement park = prepare(sql)) {
            park.setString(1, relay);
            bindReasons(park, 2, entries);
            int parked = park.executeUpdate();
            if (parked != entries.size()) {
                throw new IllegalStateException("only " + parked + " of " + entries.size()
                        + " events that must be parked are in " + schema.events());
            }
        }
    }

    public void promote(Set<EventKey> keys) throws SQLException {
        if (!keys.isEmpty()) {
            try (PreparedStatement promote = prepare(PROMOTE)) {
                bindKeys(promote, 1, List.copyOf(keys));
                promote.setString(3, relay);
                promote.setString(4, relay);
                promote.executeUpdate();
            }
        }
    }

    /** Locks the lease's row until the end of the transaction; false if another process has taken the lease. */
    public boolean holdLease(UUID owner, long epoch) throws SQLException {
        try (PreparedStatement hold = prepare(HOLD_LEASE)) {
            hold.setString(1, relay);
            hold.setObject(2, owner);
            hold.setLong(3, epoch);
            try (ResultSet row = hold.executeQuery()) {
                return row.next();
            }
        }
    }

    void bindReasons(PreparedStatement statement, int first, List<Entry> entries) throws SQLException {
        statement.setArray(
                first,
                numbers(entries.stream().map(entry -> entry.record().seq()).toList()));
        statement.setArray(
                first + 1,
                texts(entries.stream()
                        .map(entry -> entry.reason().state().sql())
                        .toList()));
        statement.setArray(
                first + 2,
                connection.createArrayOf(
                        "int4",
                        entries.stream()
                                .map(entry -> entry.reason().partition())
                                .toArray()));
        List<@Nullable String> errors = new ArrayList<>();
        for (Entry entry : entries) {
            errors.add(shortened(entry.reason().error()));
        }
        statement.setArray(first + 3, connection.createArrayOf("text", errors.toArray()));
    }

    private static @Nullable String shortened(@Nullable String error) {
        if (error == null) {
            return null;
        }
        String legal = error.replace('\0', ' ');
        return legal.length() <= LONGEST_ERROR ? legal : legal.substring(0, LONGEST_ERROR) + "…";
    }

    private void bindKeys(PreparedStatement statement, int first, List<EventKey> keys) throws SQLException {
        statement.setArray(first, texts(keys.stream().map(EventKey::topic).toList()));
        statement.setArray(first + 1, texts(keys.stream().map(EventKey::key).toList()));
    }

    private Array texts(List<String> texts) throws SQLException {
        return connection.createArrayOf("text", texts.toArray());
    }

    Array numbers(List<Long> numbers) throws SQLException {
        return connection.createArrayOf("int8", numbers.toArray());
    }

    static @Nullable EventKey key(String topic, @Nullable String key) {
        return key == null ? null : new EventKey(topic, key);
    }

    PreparedStatement prepare(String sql) throws SQLException {
        return connection.prepareStatement(sql(sql, schema));
    }

    static String sql(String statement, OutboxSchema schema) {
        return statement
                .replace("{sent}", RecordAssembler.event("number"))
                .replace("{event}", OutboxTable.COLUMNS)
                .replace("{events}", schema.events().sql())
                .replace("{lease}", schema.lease().sql())
                .replace("{parked}", schema.parked().sql());
    }
}
