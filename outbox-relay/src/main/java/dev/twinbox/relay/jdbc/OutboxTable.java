package dev.twinbox.relay.jdbc;

import dev.twinbox.jdbc.SqlIdentifier;
import dev.twinbox.relay.config.RelayConfig;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
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
 *
 * <p>A page comes as one value: a row of its own for each event costs PostgreSQL a write to its socket for every few of them,
 * and the driver more than all that is done with them.
 */
public final class OutboxTable implements AutoCloseable {
    private static final int SNAPSHOT = 1;
    private static final int MORE = 2;
    private static final int EVENTS = 3;

    /** An event in any table that holds some. */
    static final String COLUMNS = "seq, " + RecordAssembler.COLUMNS;

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
         * A row larger than its share of the page, bytes divided by rows, is withheld, and the page ends before it. Costs next
         * to nothing, but such a row needs the other way. With the {@code order by} before the {@code offset 0} the planner
         * knows that nothing need be sorted.
         */
        BY_ROW("""
                select b.*, {size} > ? as withheld, false as more from ({branches}) b order by seq offset 0"""),
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
                where running <= ? or running = bytes
                order by seq offset 0""");

        private final String cut;

        Cutting(String cut) {
            this.cut = cut;
        }
    }

    /** In the order of {@code seq}, in which they come: {@code string_agg} keeps it. */
    private static final String PAGE = """
            bool_and(more) as more, string_agg(case when withheld then {withheld} else {event} end, '') as events from ({cut}) p
            """;

    private static final String OPEN_WINDOW = """
            -- relay: open window
            select pg_current_snapshot()::text as snapshot,
            """ + PAGE;

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
            select null::text as snapshot,
            """ + PAGE;

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
     * Consecutive rows of a window.
     *
     * @param snapshot the one in which the rows were read; null where the window's own counts
     * @param cut whether rows of the window were left out, or may have been
     * @param bytes what the records hold in memory, roughly
     */
    public record Slice(
            List<OutboxRecord> records, @Nullable Snapshot snapshot, Cut cut, long bytes) {}

    /** Whether a slice ends where its window ends. */
    public enum Cut {
        NOTHING_LEFT,
        MORE_TO_COME
    }

    private static final ByteBuffer NO_EVENTS = ByteBuffer.allocate(0);

    private final Map<Cutting, PreparedStatement> openWindow = new EnumMap<>(Cutting.class);
    private final Map<Cutting, PreparedStatement> nextPage = new EnumMap<>(Cutting.class);
    private final RelayConfig.Page limits;
    private final RecordAssembler assembler = new RecordAssembler();
    private Cutting cutting = Cutting.BY_ROW;

    /**
     * Prepares the statements.
     *
     * @param connection in auto-commit mode, with the settings of {@link OutboxDatabase}
     */
    public OutboxTable(Connection connection, SqlIdentifier events, RelayConfig.Page limits) throws SQLException {
        this.limits = limits;
        planOnce(connection);
        for (Cutting each : Cutting.values()) {
            openWindow.put(each, connection.prepareStatement(openWindow(each, events)));
            nextPage.put(each, connection.prepareStatement(nextPage(each, events)));
        }
    }

    /**
     * From now on a statement is planned when it is first executed, and again when its tables change: planning takes several
     * times as long as a poll. A plan that is made while a slot is empty is as good as a later one, since without sequential and
     * bitmap scans there is one way only for each branch.
     */
    static void planOnce(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("set plan_cache_mode = force_generic_plan");
        }
    }

    public static String openWindow(Cutting cutting, SqlIdentifier events) {
        return sql(OPEN_WINDOW, OPEN_WINDOW_BRANCHES, cutting, events);
    }

    public static String nextPage(Cutting cutting, SqlIdentifier events) {
        return sql(NEXT_PAGE, NEXT_PAGE_BRANCHES, cutting, events);
    }

    private static String sql(String statement, String branches, Cutting cutting, SqlIdentifier events) {
        return statement
                .replace("{cut}", cutting.cut)
                .replace("{event}", RecordAssembler.EVENT)
                .replace("{withheld}", RecordAssembler.WITHHELD)
                .replace("{branches}", branches)
                .replace("{size}", SIZE)
                .replace("{columns}", COLUMNS)
                .replace("{overhead}", Integer.toString(OutboxRecord.OVERHEAD))
                .replace("{events}", events.sql());
    }

    /** Below this no row can make a page of {@link Cutting#BY_ROW} too large. */
    private static double share(RelayConfig.Page limits) {
        return (double) limits.bytes() / limits.rows();
    }

    /** The first page of what is visible now and was not in {@code from}. */
    public Slice openWindow(Snapshot from) throws SQLException {
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
    public Slice nextPage(Snapshot from, Snapshot to, long seq) throws SQLException {
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
        try (ResultSet page = statement.executeQuery()) {
            page.next();
            String snapshot = page.getString(SNAPSHOT);
            byte[] events = page.getBytes(EVENTS);
            return slice(
                    snapshot == null ? null : Snapshot.parse(snapshot),
                    events == null ? NO_EVENTS : ByteBuffer.wrap(events),
                    page.getBoolean(MORE) ? Cut.MORE_TO_COME : Cut.NOTHING_LEFT);
        }
    }

    private @Nullable Slice slice(@Nullable Snapshot snapshot, ByteBuffer events, Cut cut) {
        List<OutboxRecord> records = new ArrayList<>();
        boolean more = cut == Cut.MORE_TO_COME;
        cutting = Cutting.BY_ROW;
        long before = assembler.bytes();
        while (events.hasRemaining()) {
            long start = assembler.bytes();
            OutboxRecord record = assembler.assemble(events);
            if (record == null) {
                cutting = Cutting.BY_SUM;
                more = true;
                break;
            }
            records.add(record);
            if (assembler.bytes() - start > share(limits)) {
                cutting = Cutting.BY_SUM;
            }
        }
        if (more && records.isEmpty()) {
            return null;
        }
        boolean full = more || records.size() >= limits.rows();
        return new Slice(records, snapshot, full ? Cut.MORE_TO_COME : Cut.NOTHING_LEFT, assembler.bytes() - before);
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
