package dev.twinbox.relay.jdbc;

import dev.twinbox.schema.OutboxSchema;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The parked events as a queue: finds events that can be sent, claims them, and removes them or puts them back. Bound
 * to one connection; not for several threads. Statements that the relay repeats never read rows that only wait for an
 * operator or for another row. {@code ParkedPlansIT} checks it.
 */
public final class ParkedQueue {
    /** The most keys, or discarded rows, that one statement handles. */
    public static final int BATCH = 500;

    static final String HAS_DISCARDED = """
            -- relay: is a parked event discarded
            select exists (select from {parked} where relay = ? and state = 'discarded')
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
            -- relay: return what a predecessor was sending to the queue
            update {parked} set state = 'ready' where relay = ? and state = 'sending'
            """;

    /** The first row of a key, or any row without a key. */
    static final String IS_HEAD = """
            (p.key is null or not exists (
              select from {parked} e where e.relay = p.relay and {same} and e.number < p.number))""".replace("{same}", ParkedTable.sameKey("e", "p"));

    /** First rows and the rows that follow them in their key. The caller limits the number. */
    private static final String WITH_FOLLOWERS =
            """
            select r.number, r.topic, r.key, r.state, r.bytes
            from heads h cross join lateral (
              (select number, topic, key, state, {bytes} as bytes from {parked}
                where h.key is null and relay = ? and number = h.number)
              union all
              (select number, topic, key, state, {bytes} from {parked} p
                where p.relay = ? and {same} and p.number >= h.number order by p.number limit ?)
            ) r limit ?
            """.replace("{same}", ParkedTable.sameKey("p", "h")).replace("{bytes}", RowSize.OF_PARKED);

    static final String READY = """
            -- relay: parked events to send
            with heads as materialized (
              select number, topic, key from {parked} p
              where relay = ? and state = 'ready' and number <> all (?) and topic <> all (?) and {head}
              order by number limit ?)
            """.replace("{head}", IS_HEAD) + WITH_FOLLOWERS;

    static final String WAITING = """
            -- relay: parked events that have waited
            with heads as materialized (
              select number, topic, key from {parked} p
              where relay = ? and state = 'waiting' and topic = ? and partition = ? and number <> all (?)
              order by number limit ?)
            """ + WITH_FOLLOWERS;

    /** Skips from one group to the next through the index, so the cost does not depend on the number of rows. */
    static final String WAITED_FOR = """
            -- relay: what parked events wait for
            with recursive w as (
              (select topic, partition from {parked} where relay = ? and state = 'waiting'
                and (topic, partition) > (?, ?) order by topic, partition limit 1)
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
            update {parked} set state = 'sending'{as}
            where relay = ? and number = any(?) and state in ('ready', 'waiting', 'behind')
            returning attempts, {sent}
            """;

    private static final String DELETE = """
            -- relay: parked events are sent
            delete from {parked} where relay = ? and number = any(?)
            """;

    /** The end of a pause ({@link ParkReason#PAUSED}) is not waited for any more: what it waits for now begins now. */
    private static final String PUT_BACK = """
            -- relay: parked events were not sent
            update {parked} p set state = b.state, partition = b.partition, error = coalesce(b.error, p.error),
              attempts = p.attempts + case b.state when 'refused' then 1 else 0 end,
              since = case when p.partition = -2 and b.partition <> -2 then clock_timestamp() else p.since end
            from unnest(?::bigint[], ?::text[], ?::int[], ?::text[]) b(number, state, partition, error)
            where p.relay = ? and p.number = b.number and p.state = 'sending'
            """;

    private static final String DELETE_DISCARDED = """
            -- relay: take out discarded events
            delete from {parked} where relay = ? and number in (
              select number from {parked} where relay = ? and state = 'discarded' order by number limit ?)
            returning topic, key, id, number
            """;

    /** A row that may be sent. */
    public record Candidate(long number, @Nullable EventKey key, ParkedState state, long bytes) {}

    /** A row that this relay has claimed to send it. */
    public record Claimed(OutboxRecord record, int attempts) {}

    /** A topic, or one partition of it, that events wait for. */
    public record WaitedFor(String topic, int partition) {}

    /** Events and topics that must not be chosen now. */
    public record Paused(List<Long> events, List<String> topics) {}

    public record Discarded(@Nullable EventKey key, String description) {}

    private final ParkedTable table;
    private final String relay;
    private final RecordAssembler assembler;
    private final String claim;

    /** @param largest a larger event is claimed without its content */
    public ParkedQueue(Connection connection, OutboxSchema schema, String relay, LargestEvent largest) {
        this.assembler = new RecordAssembler(largest);
        this.claim = CLAIM.replace("{sent}", RowSize.eventUnlessTooLarge("number", largest));
        this.table = new ParkedTable(connection, schema, relay);
        this.relay = relay;
    }

    public boolean hasRows() throws SQLException {
        return table.hasRows();
    }

    public void promote(Set<EventKey> keys) throws SQLException {
        table.promote(keys);
    }

    public boolean holdLease(UUID owner, long epoch) throws SQLException {
        return table.holdLease(owner, epoch);
    }

    public boolean hasDiscarded() throws SQLException {
        return table.exists(HAS_DISCARDED);
    }

    /** Returns rows to the queue that a predecessor had claimed. When a session begins, nothing is being sent yet. */
    public void resume() throws SQLException {
        try (PreparedStatement resume = table.prepare(RESUME)) {
            resume.setString(1, relay);
            resume.executeUpdate();
        }
    }

    /** Events that can be sent now: whole keys as far as the limits allow, in order within each key. */
    public List<Candidate> ready(int rows, Paused paused) throws SQLException {
        try (PreparedStatement select = table.prepare(READY)) {
            select.setString(1, relay);
            select.setArray(2, table.numbers(paused.events()));
            select.setArray(3, table.texts(paused.topics()));
            select.setInt(4, BATCH);
            return candidates(select, 5, rows);
        }
    }

    /** Events that wait for this group, and the events blocked by them. */
    public List<Candidate> waiting(WaitedFor group, int rows, Paused paused) throws SQLException {
        try (PreparedStatement select = table.prepare(WAITING)) {
            select.setString(1, relay);
            select.setString(2, group.topic());
            select.setInt(3, group.partition());
            select.setArray(4, table.numbers(paused.events()));
            select.setInt(5, BATCH);
            return candidates(select, 6, rows);
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
                        ParkedTable.key(row.getString(2), row.getString(3)),
                        ParkedState.of(row.getString(4)),
                        row.getLong(5)));
            }
        }
        return candidates;
    }

    /** What events wait for, in order, after this group. Not more than a batch of them. */
    public List<WaitedFor> waitedFor(WaitedFor after) throws SQLException {
        try (PreparedStatement select = table.prepare(WAITED_FOR)) {
            select.setString(1, relay);
            select.setString(2, after.topic());
            select.setInt(3, after.partition());
            select.setString(4, relay);
            select.setInt(5, BATCH);
            List<WaitedFor> groups = new ArrayList<>();
            try (ResultSet row = select.executeQuery()) {
                while (row.next()) {
                    groups.add(new WaitedFor(row.getString(1), row.getInt(2)));
                }
            }
            return groups;
        }
    }

    /** Marks events as refused that have waited longer than the limit. From then on they need an operator. */
    public int giveUp(WaitedFor group, Duration limit) throws SQLException {
        try (PreparedStatement update = table.prepare(GIVE_UP)) {
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

    /** Claims those of the rows that no operator has discarded meanwhile, in order. */
    public List<Claimed> claim(List<Candidate> candidates) throws SQLException {
        try (PreparedStatement update = table.prepare(claim.replace("{as}", ""))) {
            return claim(update, 1, candidates);
        }
    }

    /** As {@link #claim(List)}, for the Kafka transaction with this number. */
    public List<Claimed> claim(List<Candidate> candidates, long transaction) throws SQLException {
        try (PreparedStatement update = table.prepare(claim.replace("{as}", ", sent_as = ?"))) {
            update.setLong(1, transaction);
            return claim(update, 2, candidates);
        }
    }

    private List<Claimed> claim(PreparedStatement update, int next, List<Candidate> candidates) throws SQLException {
        update.setString(next, relay);
        List<Long> numbers = candidates.stream().map(Candidate::number).toList();
        update.setArray(next + 1, table.numbers(numbers));
        List<Claimed> claimed = new ArrayList<>();
        try (ResultSet row = update.executeQuery()) {
            while (row.next()) {
                OutboxRecord record = assembler.assemble(ByteBuffer.wrap(row.getBytes(2)));
                claimed.add(new Claimed(Objects.requireNonNull(record, "nothing is withheld"), row.getInt(1)));
            }
        }
        claimed.sort(Comparator.comparingLong(each -> each.record().seq()));
        return claimed;
    }

    /** The highest number of a Kafka transaction in which a predecessor was sending; null if it was not sending. */
    public @Nullable Long sendingAs() throws SQLException {
        try (PreparedStatement select = table.prepare(SENDING_AS)) {
            select.setString(1, relay);
            try (ResultSet row = select.executeQuery()) {
                row.next();
                long number = row.getLong(1);
                return row.wasNull() ? null : number;
            }
        }
    }

    /** Removes the rows that were sent in the committed transaction with this number. */
    public void deleteSent(long transaction) throws SQLException {
        try (PreparedStatement delete = table.prepare(DELETE_SENT)) {
            delete.setString(1, relay);
            delete.setLong(2, transaction);
            table.promote(ParkedTable.keys(delete));
        }
    }

    public void delete(List<Long> numbers) throws SQLException {
        if (!numbers.isEmpty()) {
            try (PreparedStatement delete = table.prepare(DELETE)) {
                delete.setString(1, relay);
                delete.setArray(2, table.numbers(numbers));
                delete.executeUpdate();
            }
        }
    }

    /**
     * Parks events again that were being sent.
     *
     * @param entries the events by their numbers in the parked table
     */
    public void putBack(List<ParkedTable.Entry> entries) throws SQLException {
        if (!entries.isEmpty()) {
            try (PreparedStatement update = table.prepare(PUT_BACK)) {
                table.bindReasons(update, 1, entries);
                update.setString(5, relay);
                update.executeUpdate();
            }
        }
    }

    public List<Discarded> deleteDiscarded() throws SQLException {
        try (PreparedStatement delete = table.prepare(DELETE_DISCARDED)) {
            delete.setString(1, relay);
            delete.setString(2, relay);
            delete.setInt(3, BATCH);
            List<Discarded> discarded = new ArrayList<>();
            try (ResultSet row = delete.executeQuery()) {
                while (row.next()) {
                    String description = "event " + row.getString(3) + " (topic \"" + row.getString(1) + "\", key "
                            + EventKey.shown(row.getString(2)) + ", parked as " + row.getLong(4) + ")";
                    discarded.add(new Discarded(ParkedTable.key(row.getString(1), row.getString(2)), description));
                }
            }
            return discarded;
        }
    }
}
