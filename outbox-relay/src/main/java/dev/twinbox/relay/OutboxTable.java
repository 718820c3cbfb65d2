package dev.twinbox.relay;

import dev.twinbox.schema.SqlIdentifier;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads committed rows of the outbox, one page at a time. Bound to one connection; not for several threads.
 *
 * <p>Both statements have two branches, because a row is outside of a snapshot for one of two reasons: its transaction began
 * (or ended) later, or was in progress. Neither branch may walk through rows that were sent long ago, however the planner's
 * statistics look; {@code OutboxPlansIT} holds it to that. Therefore:
 *
 * <ul>
 *   <li>{@code (tx >= …) is true} cannot be answered by the index on {@code (tx, seq)}, only checked: the branch has to walk
 *       in order of {@code seq} and stop at the limit. By {@code tx} it would read and sort the whole backlog for each page.
 *   <li>Its lower bound comes from the index on {@code (tx, seq)}. Without the {@code offset 0} the planner turns {@code
 *       min(seq)} into a walk of the index on {@code seq} from the start of history.
 *   <li>The branch of the transactions in progress needs {@code lateral … limit}, or it is planned as one scan by {@code seq}.
 *       It compares pairs, although {@code tx = …} would say it: with statistics of a time when most rows were of one
 *       transaction, the planner would walk the index on {@code seq} and check {@code tx}. That index has no order by pairs.
 * </ul>
 *
 * <p>A page ends before the row with which it would exceed its bytes; {@code octet_length} knows them without reading the
 * value. A row that is larger by itself comes alone. What PostgreSQL sends is therefore bounded, and so is our memory.
 */
final class OutboxTable implements AutoCloseable {
    static final int SNAPSHOT = 1;
    static final int SEQ = 2;
    static final int MORE = 3;
    static final int ID = 4;
    static final int TOPIC = 5;
    static final int KEY = 6;
    static final int TYPE = 7;
    static final int SOURCE = 8;
    static final int SUBJECT = 9;
    static final int OCCURRED_AT = 10;
    static final int CONTENT_TYPE = 11;
    static final int HEADERS = 12;
    static final int PAYLOAD = 13;

    private static final String COLUMNS =
            "seq, id, topic, key, type, source, subject, occurred_at, content_type, headers, payload";

    /**
     * The binary form of columns whose text form would have to be parsed. The {@code …_send} functions give it whatever
     * transfer format the driver has chosen.
     */
    private static final String SENT = """
            uuid_send(id), topic, key, type, source, subject, timestamptz_send(occurred_at), content_type, array_send(headers),
            payload""";

    /** Cuts a page by bytes. Floating point: sums of bigint would be numeric, and up to 2^53 it is as exact. */
    private static final String CUT = """
            select * from (
              select u.*, sum(bytes) over w as running, lead(seq) over w is not null as more
              from (
                select b.*,
                  {overhead}::float8 + coalesce(octet_length(payload), 0) + coalesce(octet_length(key), 0)
                  + octet_length(topic) + octet_length(type) + octet_length(source) + coalesce(octet_length(subject), 0)
                  + octet_length(content_type) + coalesce(octet_length(array_to_string(headers, '')), 0) as bytes
                from ({branches}) b
              ) u
              window w as (order by seq rows unbounded preceding)
            ) c
            where running <= ? or running = bytes
            """;

    static final String OPEN_WINDOW = """
            -- relay: open window
            select snapshot, seq, more, {sent} from (
              (select pg_current_snapshot()::text as snapshot, -9223372036854775808 as seq, false as more, null::uuid as id,
                null as topic, null as key, null as type, null as source, null as subject, null::timestamptz as occurred_at,
                null as content_type, null::text[] as headers, null::bytea as payload)
              union all
              (select null, seq, more, id, topic, key, type, source, subject, occurred_at, content_type, headers, payload
                from ({cut}) p)
            ) r
            order by seq
            """.replace("{cut}", CUT).replace("{branches}", """
                            (select {columns} from {events}
                              where (tx >= ?::xid8) is true
                                and seq >= coalesce(?::bigint,
                                  (select min(seq) from (select seq from {events} where tx >= ?::xid8 offset 0) f))
                              order by seq limit ?)
                            union all
                            (select l.* from unnest(?::xid8[]) x(tx)
                              cross join lateral (
                                select {columns} from {events} e
                                where (e.tx, e.seq) > (x.tx, -9223372036854775808) and e.tx <= x.tx
                                order by e.tx, e.seq limit ?) l
                              order by seq limit ?)
                            order by seq limit ?""");

    static final String NEXT_PAGE = """
            -- relay: next page of the window
            select null as snapshot, seq, more, {sent} from ({cut}) p order by seq
            """.replace("{cut}", CUT).replace("{branches}", """
                            (select {columns} from {events}
                              where seq > ? and (tx >= ?::xid8) is true and pg_visible_in_snapshot(tx, ?::pg_snapshot)
                              order by seq limit ?)
                            union all
                            (select l.* from unnest(?::xid8[]) x(tx)
                              cross join lateral (
                                select {columns} from {events} e
                                where (e.tx, e.seq) > (x.tx, ?::bigint) and e.tx <= x.tx
                                order by e.tx, e.seq limit ?) l
                              where pg_visible_in_snapshot(x.tx, ?::pg_snapshot)
                              order by seq limit ?)
                            order by seq limit ?""");

    /**
     * @param snapshot the one in which the rows were read; null where the window's own counts
     * @param cut whether rows of the window were left out, or may have been
     * @param bytes what the records hold in memory, roughly
     */
    record Slice(List<OutboxRecord> records, @Nullable Snapshot snapshot, Cut cut, long bytes) {}

    /** Whether a slice ends where its window ends. */
    enum Cut {
        NOTHING_LEFT,
        MORE_TO_COME
    }

    private final PreparedStatement openWindow;
    private final PreparedStatement nextPage;
    private final RelayConfig.Page limits;
    private final RecordAssembler assembler = new RecordAssembler();

    /** @param connection in auto-commit mode, with the settings of {@link DatabaseSession} */
    OutboxTable(Connection connection, SqlIdentifier events, RelayConfig.Page limits) throws SQLException {
        this.limits = limits;
        this.openWindow = connection.prepareStatement(sql(OPEN_WINDOW, events));
        this.nextPage = connection.prepareStatement(sql(NEXT_PAGE, events));
    }

    static String sql(String statement, SqlIdentifier events) {
        return statement
                .replace("{sent}", SENT)
                .replace("{columns}", COLUMNS)
                .replace("{overhead}", Integer.toString(RecordAssembler.OVERHEAD))
                .replace("{events}", events.sql());
    }

    /** The first page of what is visible now and was not in {@code from}. */
    Slice openWindow(Snapshot from) throws SQLException {
        bindOpenWindow(openWindow, from, limits);
        return read(openWindow);
    }

    static void bindOpenWindow(PreparedStatement statement, Snapshot from, RelayConfig.Page limits)
            throws SQLException {
        statement.setObject(1, from.xmax(), Types.OTHER);
        if (from.isEmpty()) {
            statement.setLong(2, Long.MIN_VALUE); // all there is belongs to the window: nothing to look for
        } else {
            statement.setNull(2, Types.BIGINT);
        }
        statement.setObject(3, from.xmax(), Types.OTHER);
        statement.setInt(4, limits.rows());
        statement.setObject(5, from.inProgress(), Types.OTHER);
        statement.setInt(6, limits.rows());
        statement.setInt(7, limits.rows());
        statement.setInt(8, limits.rows());
        statement.setDouble(9, limits.bytes());
    }

    /** The rows behind {@code seq} of the window between two snapshots. */
    Slice nextPage(Snapshot from, Snapshot to, long seq) throws SQLException {
        bindNextPage(nextPage, from, to, seq, limits);
        return read(nextPage);
    }

    static void bindNextPage(PreparedStatement statement, Snapshot from, Snapshot to, long seq, RelayConfig.Page limits)
            throws SQLException {
        statement.setLong(1, seq);
        statement.setObject(2, from.xmax(), Types.OTHER);
        statement.setObject(3, to.text(), Types.OTHER);
        statement.setInt(4, limits.rows());
        statement.setObject(5, from.inProgress(), Types.OTHER);
        statement.setLong(6, seq);
        statement.setInt(7, limits.rows());
        statement.setObject(8, to.text(), Types.OTHER);
        statement.setInt(9, limits.rows());
        statement.setInt(10, limits.rows());
        statement.setDouble(11, limits.bytes());
    }

    private Slice read(PreparedStatement statement) throws SQLException {
        List<OutboxRecord> records = new ArrayList<>();
        Snapshot snapshot = null;
        boolean more = false;
        long before = assembler.bytes();
        try (ResultSet rows = statement.executeQuery()) {
            while (rows.next()) {
                String text = rows.getString(SNAPSHOT);
                if (text != null) {
                    snapshot = Snapshot.parse(text);
                    continue;
                }
                records.add(assembler.assemble(rows));
                more = rows.getBoolean(MORE);
            }
        }
        boolean full = more || records.size() >= limits.rows();
        return new Slice(records, snapshot, full ? Cut.MORE_TO_COME : Cut.NOTHING_LEFT, assembler.bytes() - before);
    }

    @Override
    public void close() throws SQLException {
        openWindow.close();
        nextPage.close();
    }
}
