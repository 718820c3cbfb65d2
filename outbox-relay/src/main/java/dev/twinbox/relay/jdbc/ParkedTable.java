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
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The events that a relay has parked, in order within each topic and key. {@link ParkedInsert} adds events; this class finds
 * blocked keys. Bound to one connection; not for several threads. Numbers grow with time and, within a key, in the order of the
 * window. {@link ParkedQueue} removes events again; {@link ParkedRows} serves the operator.
 */
public final class ParkedTable {
    private static final int LONGEST_ERROR = 2_000;

    /** The expression of the index on topic and key; the migration to version 7 explains it. */
    private static final String KEY_HASH =
            "sha256(replace(left({topic}, 1000) || '/' || left({key}, 1000000), chr(92), chr(92) || chr(92))::bytea)";

    private static final String ANY = """
            -- relay: is anything parked
            select exists (select from {parked} where relay = ?)
            """;

    static final String BLOCKED = """
            -- relay: blocked keys of a page
            select k.n from unnest(?::text[], ?::text[]) with ordinality k(topic, key, n)
            cross join lateral (select 1 from {parked} p where p.relay = ? and {same} limit 1) b
            """.replace("{same}", sameKey("p", "k"));

    /** Reads the rows of the keys of a page once, and all rows without a key. */
    private static final String PARKED_OF = """
            -- relay: events of a page that are parked
            select p.seq from (select distinct topic, key from unnest(?::text[], ?::text[]) a(topic, key)) k
            cross join lateral (select seq from {parked} p where p.relay = ? and {same} and p.seq = any(?) offset 0) p
            union all
            select seq from {parked} where relay = ? and key is null and seq = any(?)
            """.replace("{same}", sameKey("p", "k"));

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
              select n.number, n.state from {parked} n where n.relay = ? and {same} order by n.number limit 1) f
            where p.relay = ? and p.number = f.number and f.state = 'behind'
            """.replace("{same}", sameKey("n", "k"));

    private static final String HOLD_LEASE = """
            -- relay: hold the lease
            select 1 from {lease} where relay = ? and owner = ? and epoch = ? for share
            """;

    /**
     * SQL that compares topic and key of a parked row with those of another row. The first condition is for the index
     * of version 7, the others for the index of earlier versions, too.
     */
    static String sameKey(String row, String other) {
        return keyHash(row + ".topic", row + ".key") + " = " + keyHash(other + ".topic", other + ".key") + " and " + row
                + ".topic = " + other + ".topic and " + row + ".key = " + other + ".key";
    }

    static String keyHash(String topic, String key) {
        return KEY_HASH.replace("{topic}", topic).replace("{key}", key);
    }

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

    /** The numbers of those records that are parked. */
    Set<Long> parkedOf(List<OutboxRecord> records) throws SQLException {
        List<EventKey> keys =
                records.stream().map(OutboxRecord::key).filter(Objects::nonNull).toList();
        List<Long> numbers = records.stream().map(OutboxRecord::seq).toList();
        Set<Long> found = new HashSet<>();
        try (PreparedStatement select = prepare(PARKED_OF)) {
            bindKeys(select, 1, keys);
            select.setString(3, relay);
            select.setArray(4, numbers(numbers));
            select.setString(5, relay);
            select.setArray(6, numbers(numbers));
            try (ResultSet row = select.executeQuery()) {
                while (row.next()) {
                    found.add(row.getLong(1));
                }
            }
        }
        return found;
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
        if (legal.length() <= LONGEST_ERROR) {
            return legal;
        }
        int end = Character.isHighSurrogate(legal.charAt(LONGEST_ERROR - 1)) ? LONGEST_ERROR - 1 : LONGEST_ERROR;
        return legal.substring(0, end) + "…";
    }

    private void bindKeys(PreparedStatement statement, int first, List<EventKey> keys) throws SQLException {
        statement.setArray(first, texts(keys.stream().map(EventKey::topic).toList()));
        statement.setArray(first + 1, texts(keys.stream().map(EventKey::key).toList()));
    }

    Array texts(List<String> texts) throws SQLException {
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
                .replace("{event}", WindowRows.COLUMNS)
                .replace("{events}", schema.events().sql())
                .replace("{lease}", schema.lease().sql())
                .replace("{parked}", schema.parked().sql());
    }
}
