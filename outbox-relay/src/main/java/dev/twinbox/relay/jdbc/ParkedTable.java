package dev.twinbox.relay.jdbc;

import dev.twinbox.schema.OutboxSchema;
import java.nio.ByteBuffer;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The events that a relay has set aside, by topic and key in order. Bound to one connection; not for several threads. Numbers
 * grow with time and, within a key, in the order of the window. None of the statements that the relay repeats reads rows that
 * only wait for a person or behind another row; {@code ParkedPlansIT} holds it to that.
 */
public final class ParkedTable {
    /** Most keys or tombstones that one statement deals with. */
    static final int BATCH = 500;

    private static final int LONGEST_ERROR = 2_000;

    private static final String ANY = """
            -- relay: is anything parked
            select exists (select from {parked} where relay = ?)
            """;

    static final String HAS_DISCARDED = """
            -- relay: is a parked event discarded
            select exists (select from {parked} where relay = ? and state = 'discarded')
            """;

    static final String BLOCKED = """
            -- relay: blocked keys of a page
            select k.n from unnest(?::text[], ?::text[]) with ordinality k(topic, key, n)
            cross join lateral (
              select 1 from {parked} p where p.relay = ? and p.topic = k.topic and p.key = k.key limit 1) b
            """;

    /** Copied within the database: what cannot be read back can still be kept. */
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
            -- relay: events are set aside for good
            update {parked} p set state = decided_state, decided_state = null
            where relay = ? and state = 'undecided'
            returning topic, key
            """;

    private static final String REVOKE = """
            -- relay: events were not set aside after all
            delete from {parked} where relay = ? and state = 'undecided'
            """;

    private static final String CLAIM_AS = """
            -- relay: claim parked events for a transaction
            update {parked} set state = 'sending', sent_as = ?
            where relay = ? and number = any(?) and state in ('ready', 'waiting', 'behind')
            returning attempts, {sent}
            """;

    private static final String SENDING_AS = """
            -- relay: numbers of the transactions in which a predecessor was sending
            select max(sent_as) from {parked} where relay = ? and state = 'sending'
            """;

    private static final String DELETE_SENT = """
            -- relay: take out what a predecessor has sent
            delete from {parked} where relay = ? and state = 'sending' and sent_as = ?
            returning topic, key
            """;

    private static final String RESUME = """
            -- relay: take up what a predecessor was sending
            update {parked} set state = 'ready' where relay = ? and state = 'sending'
            """;

    /** The first row of a key, or any row without one. */
    private static final String IS_HEAD = """
            (p.key is null or not exists (
              select from {parked} e where e.relay = p.relay and e.topic = p.topic and e.key = p.key and e.number < p.number))""";

    /** Heads, and what follows them in their key; cut by the caller. */
    private static final String WITH_FOLLOWERS = """
            select r.number, r.topic, r.key, r.state, r.bytes
            from heads h cross join lateral (
              (select number, topic, key, state, {bytes} as bytes from {parked}
                where h.key is null and relay = ? and number = h.number)
              union all
              (select number, topic, key, state, {bytes} from {parked}
                where relay = ? and topic = h.topic and key = h.key and number >= h.number order by number limit ?)
            ) r limit ?
            """.replace("{bytes}", """
                    coalesce(octet_length(payload), 0) + coalesce(octet_length(array_to_string(headers, '')), 0) + 500""");

    static final String READY = """
            -- relay: parked events to send
            with heads as materialized (
              select number, topic, key from {parked} p
              where relay = ? and state = 'ready' and {head} order by number limit ?)
            """.replace("{head}", IS_HEAD) + WITH_FOLLOWERS;

    static final String WAITING = """
            -- relay: parked events that have waited
            with heads as materialized (
              select number, topic, key from {parked} p
              where relay = ? and state = 'waiting' and topic = ? and partition = ? order by number limit ?)
            """ + WITH_FOLLOWERS;

    /** Hops from one to the next, whatever the number of rows. */
    static final String WAITED_FOR = """
            -- relay: what parked events wait for
            with recursive w as (
              (select topic, partition from {parked} where relay = ? and state = 'waiting'
                order by topic, partition limit 1)
              union all
              select n.topic, n.partition from w cross join lateral (
                select topic, partition from {parked} p
                where relay = ? and state = 'waiting' and (p.topic, p.partition) > (w.topic, w.partition)
                order by topic, partition limit 1) n)
            select topic, partition from w limit ?
            """;

    private static final String GIVE_UP = """
            -- relay: parked events that have waited too long
            update {parked} set state = 'refused', error = error || '; waited for ' || ?
            where relay = ? and number in (
                select number from {parked} where relay = ? and state = 'waiting' and topic = ? and partition = ?
                order by number limit ?)
              and state = 'waiting' and since < clock_timestamp() - make_interval(secs => ?)
            """;

    private static final String CLAIM = """
            -- relay: claim parked events
            update {parked} set state = 'sending'
            where relay = ? and number = any(?) and state in ('ready', 'waiting', 'behind')
            returning attempts, {sent}
            """;

    private static final String DELETE = """
            -- relay: parked events are sent
            delete from {parked} where relay = ? and number = any(?)
            """;

    private static final String PUT_BACK = """
            -- relay: parked events were not sent
            update {parked} p set state = b.state, partition = b.partition, error = coalesce(b.error, p.error),
              attempts = p.attempts + case b.state when 'refused' then 1 else 0 end
            from unnest(?::bigint[], ?::text[], ?::int[], ?::text[]) b(number, state, partition, error)
            where p.relay = ? and p.number = b.number and p.state = 'sending'
            """;

    private static final String DELETE_DISCARDED = """
            -- relay: take out discarded events
            delete from {parked} where relay = ? and number in (
              select number from {parked} where relay = ? and state = 'discarded' order by number limit ?)
            returning topic, key, id, number
            """;

    /** What was behind the rows that are gone comes first now. */
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

    /** An event that a page sets aside. */
    public record Entry(OutboxRecord record, ParkReason reason) {}

    /** A row that may be sent. */
    public record Candidate(long number, @Nullable EventKey key, ParkedState state, long bytes) {}

    /** A row that is this relay's to send. */
    public record Claimed(OutboxRecord record, int attempts) {}

    /** A topic, or one partition of it, for which events wait. */
    public record WaitedFor(String topic, int partition) {}

    /** A row that a person gave up. */
    public record Discarded(@Nullable EventKey key, String description) {}

    private final Connection connection;
    private final OutboxSchema schema;
    private final String relay;
    private final RecordAssembler assembler = new RecordAssembler();

    public ParkedTable(Connection connection, OutboxSchema schema, String relay) {
        this.connection = connection;
        this.schema = schema;
        this.relay = relay;
    }

    public boolean any() throws SQLException {
        return exists(ANY);
    }

    public boolean hasDiscarded() throws SQLException {
        return exists(HAS_DISCARDED);
    }

    private boolean exists(String sql) throws SQLException {
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

    /** Within the transaction that moves the position behind these events, and never while rows are taken out. */
    public void park(List<Entry> entries) throws SQLException {
        insert(entries, PARK.replace("{states}", "state").replace("{values}", "a.state"));
        Set<EventKey> behind = new HashSet<>();
        for (Entry entry : entries) {
            EventKey key = entry.record().key();
            if (key != null && entry.reason().state() == ParkedState.BEHIND) {
                behind.add(key);
            }
        }
        promote(behind); // the event behind which it was to wait may have been sent meanwhile
    }

    /**
     * As {@link #park}, but nothing becomes of the events before {@link #decide} is called, or {@link #revoke}; only their
     * keys are blocked.
     */
    public void parkUndecided(List<Entry> entries) throws SQLException {
        insert(entries, PARK.replace("{states}", "state, decided_state").replace("{values}", "'undecided', a.state"));
    }

    /** What is undecided is set aside for good; never while rows are taken out. */
    public void decide() throws SQLException {
        try (PreparedStatement decide = prepare(DECIDE)) {
            decide.setString(1, relay);
            promote(keys(decide)); // the events behind which these were to wait may have been sent meanwhile
        }
    }

    /** What is undecided is not set aside: the position is before it. */
    public void revoke() throws SQLException {
        try (PreparedStatement revoke = prepare(REVOKE)) {
            revoke.setString(1, relay);
            revoke.executeUpdate();
        }
    }

    private static Set<EventKey> keys(PreparedStatement returningTopicAndKey) throws SQLException {
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
                        + " events to be set aside are in " + schema.events());
            }
        }
    }

    /** When a session begins nothing of it is being sent. */
    public void resume() throws SQLException {
        try (PreparedStatement resume = prepare(RESUME)) {
            resume.setString(1, relay);
            resume.executeUpdate();
        }
    }

    /** Events that can be sent at once, whole keys as far as the limits go, in order within each. */
    public List<Candidate> ready(int rows) throws SQLException {
        try (PreparedStatement select = prepare(READY)) {
            select.setString(1, relay);
            select.setInt(2, BATCH);
            return candidates(select, 3, rows);
        }
    }

    /** Events that wait for this, and those behind them. */
    public List<Candidate> waiting(WaitedFor group, int rows) throws SQLException {
        try (PreparedStatement select = prepare(WAITING)) {
            select.setString(1, relay);
            select.setString(2, group.topic());
            select.setInt(3, group.partition());
            select.setInt(4, BATCH);
            return candidates(select, 5, rows);
        }
    }

    private List<Candidate> candidates(PreparedStatement select, int next, int rows) throws SQLException {
        select.setString(next, relay);
        select.setString(next + 1, relay);
        select.setInt(next + 2, rows);
        select.setInt(next + 3, rows);
        List<Candidate> candidates = new ArrayList<>();
        try (ResultSet row = select.executeQuery()) {
            while (row.next()) {
                candidates.add(new Candidate(
                        row.getLong(1),
                        key(row.getString(2), row.getString(3)),
                        ParkedState.of(row.getString(4)),
                        row.getLong(5)));
            }
        }
        return candidates;
    }

    public List<WaitedFor> waitedFor() throws SQLException {
        try (PreparedStatement select = prepare(WAITED_FOR)) {
            select.setString(1, relay);
            select.setString(2, relay);
            select.setInt(3, BATCH);
            List<WaitedFor> groups = new ArrayList<>();
            try (ResultSet row = select.executeQuery()) {
                while (row.next()) {
                    groups.add(new WaitedFor(row.getString(1), row.getInt(2)));
                }
            }
            return groups;
        }
    }

    /** Leaves to a person what has waited for longer than this. */
    public int giveUp(WaitedFor group, Duration limit) throws SQLException {
        try (PreparedStatement update = prepare(GIVE_UP)) {
            update.setString(1, limit.toString());
            update.setString(2, relay);
            update.setString(3, relay);
            update.setString(4, group.topic());
            update.setInt(5, group.partition());
            update.setInt(6, BATCH);
            update.setDouble(7, limit.toMillis() / 1e3);
            return update.executeUpdate();
        }
    }

    /** Of these rows those that nobody has discarded meanwhile, in order. */
    public List<Claimed> claim(List<Candidate> candidates) throws SQLException {
        try (PreparedStatement claim = prepare(CLAIM)) {
            claim.setString(1, relay);
            claim.setArray(2, numbers(candidates.stream().map(Candidate::number).toList()));
            return claimed(claim);
        }
    }

    /** As {@link #claim(List)}, for the transaction of this number. */
    public List<Claimed> claim(List<Candidate> candidates, long transaction) throws SQLException {
        try (PreparedStatement claim = prepare(CLAIM_AS)) {
            claim.setLong(1, transaction);
            claim.setString(2, relay);
            claim.setArray(3, numbers(candidates.stream().map(Candidate::number).toList()));
            return claimed(claim);
        }
    }

    private List<Claimed> claimed(PreparedStatement claim) throws SQLException {
        List<Claimed> claimed = new ArrayList<>();
        try (ResultSet row = claim.executeQuery()) {
            while (row.next()) {
                OutboxRecord record = assembler.assemble(ByteBuffer.wrap(row.getBytes(2)));
                claimed.add(new Claimed(Objects.requireNonNull(record, "nothing is withheld"), row.getInt(1)));
            }
        }
        claimed.sort(Comparator.comparingLong(each -> each.record().seq()));
        return claimed;
    }

    /** The highest number of a transaction in which a predecessor was sending; null: it was not. */
    public @Nullable Long sendingAs() throws SQLException {
        try (PreparedStatement select = prepare(SENDING_AS)) {
            select.setString(1, relay);
            try (ResultSet row = select.executeQuery()) {
                row.next();
                long number = row.getLong(1);
                return row.wasNull() ? null : number;
            }
        }
    }

    /** Takes out what was sent in the transaction of this number, which is committed. */
    public void deleteSent(long transaction) throws SQLException {
        try (PreparedStatement delete = prepare(DELETE_SENT)) {
            delete.setString(1, relay);
            delete.setLong(2, transaction);
            promote(keys(delete));
        }
    }

    public void delete(List<Long> numbers) throws SQLException {
        if (!numbers.isEmpty()) {
            try (PreparedStatement delete = prepare(DELETE)) {
                delete.setString(1, relay);
                delete.setArray(2, numbers(numbers));
                delete.executeUpdate();
            }
        }
    }

    /**
     * Parks events again that were being sent.
     *
     * @param entries rows that were being sent, by the numbers of the table
     */
    public void putBack(List<Entry> entries) throws SQLException {
        if (!entries.isEmpty()) {
            try (PreparedStatement update = prepare(PUT_BACK)) {
                bindReasons(update, 1, entries);
                update.setString(5, relay);
                update.executeUpdate();
            }
        }
    }

    public List<Discarded> deleteDiscarded() throws SQLException {
        try (PreparedStatement delete = prepare(DELETE_DISCARDED)) {
            delete.setString(1, relay);
            delete.setString(2, relay);
            delete.setInt(3, BATCH);
            List<Discarded> discarded = new ArrayList<>();
            try (ResultSet row = delete.executeQuery()) {
                while (row.next()) {
                    String description = "event " + row.getString(3) + " (topic \"" + row.getString(1) + "\", key "
                            + row.getString(2) + ", parked as " + row.getLong(4) + ")";
                    discarded.add(new Discarded(key(row.getString(1), row.getString(2)), description));
                }
            }
            return discarded;
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

    /** Until the end of the transaction nobody takes the lease; false: somebody has. */
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

    private void bindReasons(PreparedStatement statement, int first, List<Entry> entries) throws SQLException {
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

    private Array numbers(List<Long> numbers) throws SQLException {
        return connection.createArrayOf("int8", numbers.toArray());
    }

    private static @Nullable EventKey key(String topic, @Nullable String key) {
        return key == null ? null : new EventKey(topic, key);
    }

    private PreparedStatement prepare(String sql) throws SQLException {
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
