package dev.twinbox.relay;

import dev.twinbox.schema.SqlIdentifier;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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
 * <p>A page is bounded in bytes as well as in rows, and with it what PostgreSQL sends and what we hold; {@code octet_length}
 * knows the size of a value without reading it. There are two ways to cut, see {@link Cutting}.
 */
final class OutboxTable implements AutoCloseable {
    static final int SNAPSHOT = 1;
    static final int SEQ = 2;
    static final int WITHHELD = 3;
    static final int MORE = 4;
    static final int ID = 5;
    static final int TOPIC = 6;
    static final int KEY = 7;
    static final int TYPE = 8;
    static final int SOURCE = 9;
    static final int SUBJECT = 10;
    static final int OCCURRED_AT = 11;
    static final int CONTENT_TYPE = 12;
    static final int HEADERS = 13;
    static final int PAYLOAD = 14;

    private static final String COLUMNS =
            "seq, id, topic, key, type, source, subject, occurred_at, content_type, headers, payload";

    /**
     * Floating point: sums of bigint would be numeric, and up to 2^53 it is as exact. Never null, also for a row that lacks
     * what it must have: a sum that is null would drop it.
     */
    private static final String SIZE = """
            {overhead}::float8 + coalesce(octet_length(payload), 0) + coalesce(octet_length(key), 0)
            + coalesce(octet_length(topic), 0) + coalesce(octet_length(type), 0) + coalesce(octet_length(source), 0)
            + coalesce(octet_length(subject), 0) + coalesce(octet_length(content_type), 0)
            + coalesce(octet_length(array_to_string(headers, '')), 0)""";

    /** How a page is kept within its bytes. */
    enum Cutting {
        /**
         * A row larger than its share of the page, bytes divided by rows, comes without its values, and the page ends before
         * it. Costs next to nothing, but such a row needs the other way. With the {@code offset 0} the size is computed once
         * for each row and not once for each column that depends on it; with the {@code order by} before it the planner knows
         * that nothing need be sorted.
         */
        BY_ROW("""
                select b.*, {size} > ? as withheld, false as more from ({branches}) b order by seq offset 0""", """
                case when withheld then null else topic end, case when withheld then null else key end,
                case when withheld then null else type end, case when withheld then null else source end,
                case when withheld then null else subject end, timestamptz_send(occurred_at),
                case when withheld then null else content_type end,
                case when withheld then null else array_send(headers) end,
                case when withheld then null else payload end"""),
        /**
         * The page ends before the row with which the sum of all sizes would exceed its bytes; a row that is larger by itself
         * comes alone. Costs PostgreSQL half as much again for rows of 500 bytes.
         */
        BY_SUM("""
                select c.*, false as withheld from (
                  select u.*, sum(bytes) over w as running, lead(seq) over w is not null as more
                  from (select b.*, {size} as bytes from ({branches}) b) u
                  window w as (order by seq rows unbounded preceding)
                ) c
                where running <= ? or running = bytes""", """
                topic, key, type, source, subject, timestamptz_send(occurred_at), content_type, array_send(headers),
                payload""");

        private final String cut;
        private final String values;

        Cutting(String cut, String values) {
            this.cut = cut;
            this.values = values;
        }
    }

    // The …_send functions give the binary form, whatever transfer format the driver has chosen.
    private static final String OPEN_WINDOW = """
            -- relay: open window
            select snapshot, seq, withheld, more, uuid_send(id), {values} from (
              (select pg_current_snapshot()::text as snapshot, -9223372036854775808 as seq, false as withheld, false as more,
                null::uuid as id, null as topic, null as key, null as type, null as source, null as subject,
                null::timestamptz as occurred_at, null as content_type, null::text[] as headers, null::bytea as payload)
              union all
              (select null, seq, withheld, more, id, topic, key, type, source, subject, occurred_at, content_type, headers,
                payload from ({cut}) p)
            ) r
            order by seq
            """;

    private static final String OPEN_WINDOW_BRANCHES = """
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
            order by seq limit ?""";

    private static final String NEXT_PAGE = """
            -- relay: next page of the window
            select null as snapshot, seq, withheld, more, uuid_send(id), {values} from ({cut}) p order by seq
            """;

    private static final String NEXT_PAGE_BRANCHES = """
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
            order by seq limit ?""";

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

    private final Map<Cutting, PreparedStatement> openWindow = new EnumMap<>(Cutting.class);
    private final Map<Cutting, PreparedStatement> nextPage = new EnumMap<>(Cutting.class);
    private final RelayConfig.Page limits;
    private final RecordAssembler assembler = new RecordAssembler();
    private Cutting cutting = Cutting.BY_ROW;

    /** @param connection in auto-commit mode, with the settings of {@link OutboxDatabase} */
    OutboxTable(Connection connection, SqlIdentifier events, RelayConfig.Page limits) throws SQLException {
        this.limits = limits;
        for (Cutting each : Cutting.values()) {
            openWindow.put(each, connection.prepareStatement(openWindow(each, events)));
            nextPage.put(each, connection.prepareStatement(nextPage(each, events)));
        }
    }

    static String openWindow(Cutting cutting, SqlIdentifier events) {
        return sql(OPEN_WINDOW, OPEN_WINDOW_BRANCHES, cutting, events);
    }

    static String nextPage(Cutting cutting, SqlIdentifier events) {
        return sql(NEXT_PAGE, NEXT_PAGE_BRANCHES, cutting, events);
    }

    private static String sql(String statement, String branches, Cutting cutting, SqlIdentifier events) {
        return statement
                .replace("{cut}", cutting.cut)
                .replace("{values}", cutting.values)
                .replace("{branches}", branches)
                .replace("{size}", SIZE)
                .replace("{columns}", COLUMNS)
                .replace("{overhead}", Integer.toString(RecordAssembler.OVERHEAD))
                .replace("{events}", events.sql());
    }

    /** Below this no row can make a page of {@link Cutting#BY_ROW} too large. */
    private static double share(RelayConfig.Page limits) {
        return (double) limits.bytes() / limits.rows();
    }

    /** The first page of what is visible now and was not in {@code from}. */
    Slice openWindow(Snapshot from) throws SQLException {
        return read(openWindow, (statement, next) -> {
            statement.setObject(next, from.xmax(), Types.OTHER);
            if (from.isEmpty()) {
                statement.setLong(next + 1, Long.MIN_VALUE); // all there is belongs to the window: nothing to look for
            } else {
                statement.setNull(next + 1, Types.BIGINT);
            }
            statement.setObject(next + 2, from.xmax(), Types.OTHER);
            statement.setInt(next + 3, limits.rows());
            statement.setObject(next + 4, from.inProgress(), Types.OTHER);
            statement.setInt(next + 5, limits.rows());
            statement.setInt(next + 6, limits.rows());
            statement.setInt(next + 7, limits.rows());
            return next + 8;
        });
    }

    /** The rows behind {@code seq} of the window between two snapshots. */
    Slice nextPage(Snapshot from, Snapshot to, long seq) throws SQLException {
        return read(nextPage, (statement, next) -> {
            statement.setLong(next, seq);
            statement.setObject(next + 1, from.xmax(), Types.OTHER);
            statement.setObject(next + 2, to.text(), Types.OTHER);
            statement.setInt(next + 3, limits.rows());
            statement.setObject(next + 4, from.inProgress(), Types.OTHER);
            statement.setLong(next + 5, seq);
            statement.setInt(next + 6, limits.rows());
            statement.setObject(next + 7, to.text(), Types.OTHER);
            statement.setInt(next + 8, limits.rows());
            statement.setInt(next + 9, limits.rows());
            return next + 10;
        });
    }

    /** Binds the parameters of the branches, from a number on; returns the number behind them. */
    private interface Binding {
        int bind(PreparedStatement statement, int next) throws SQLException;
    }

    /** Large rows are seldom alone: the exact way stays until a page had none. */
    private Slice read(Map<Cutting, PreparedStatement> statements, Binding branches) throws SQLException {
        Slice slice = null;
        if (cutting == Cutting.BY_ROW) {
            PreparedStatement statement = statement(statements, Cutting.BY_ROW);
            statement.setDouble(1, share(limits));
            branches.bind(statement, 2);
            slice = fetch(statement);
        }
        if (slice == null) {
            PreparedStatement statement = statement(statements, Cutting.BY_SUM);
            statement.setDouble(branches.bind(statement, 1), limits.bytes());
            slice = Objects.requireNonNull(fetch(statement), "a page cut by its sum withholds nothing");
        }
        return slice;
    }

    /** A page; null if its first row is withheld. */
    private @Nullable Slice fetch(PreparedStatement statement) throws SQLException {
        List<OutboxRecord> records = new ArrayList<>();
        Snapshot snapshot = null;
        boolean more = false;
        cutting = Cutting.BY_ROW;
        long before = assembler.bytes();
        try (ResultSet rows = statement.executeQuery()) {
            while (rows.next()) {
                String text = rows.getString(SNAPSHOT);
                if (text != null) {
                    snapshot = Snapshot.parse(text);
                } else if (rows.getBoolean(WITHHELD)) {
                    cutting = Cutting.BY_SUM;
                    more = true;
                    break;
                } else {
                    add(rows, records);
                    more = rows.getBoolean(MORE);
                }
            }
        }
        if (more && records.isEmpty()) {
            return null;
        }
        boolean full = more || records.size() >= limits.rows();
        return new Slice(records, snapshot, full ? Cut.MORE_TO_COME : Cut.NOTHING_LEFT, assembler.bytes() - before);
    }

    private void add(ResultSet row, List<OutboxRecord> records) throws SQLException {
        long before = assembler.bytes();
        records.add(assembler.assemble(row));
        if (assembler.bytes() - before > share(limits)) {
            cutting = Cutting.BY_SUM;
        }
    }

    private static PreparedStatement statement(Map<Cutting, PreparedStatement> statements, Cutting cutting) {
        return Objects.requireNonNull(statements.get(cutting), "all are prepared by the constructor");
    }

    @Override
    public void close() throws SQLException {
        for (Cutting each : Cutting.values()) {
            statement(openWindow, each).close();
            statement(nextPage, each).close();
        }
    }
}
