package dev.twinbox.relay.jdbc;

import dev.twinbox.jdbc.SqlIdentifier;
import dev.twinbox.jdbc.Transactions;
import dev.twinbox.relay.config.RelayConfig;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reads committed rows of the outbox, one page at a time. Bound to one connection; not for several threads.
 *
 * <p>Both statements have two branches, because a row can be outside of a snapshot for two reasons. Its transaction
 * began (or ended) after the snapshot, or was in progress in it. Neither branch may walk through rows that were sent
 * long ago, whatever the planner's statistics are. {@code OutboxPlansIT} checks it. Therefore:
 *
 * <ul>
 *   <li>The index on {@code (tx, seq)} cannot answer {@code (tx >= …) is true}; it can only be checked per row. So
 *       the first branch walks in order of {@code seq} and stops at the limit. By {@code tx} it would read and sort the
 *       whole backlog for each page.
 *   <li>That walk needs a lower bound of {@code seq}, or it would begin at the start of history. If little is unsent,
 *       the index on {@code (tx, seq)} gives the exact one. Otherwise it is the snapshot's floor, which costs nothing.
 *       See {@link SequenceFence}.
 *   <li>The bound's {@code order by … limit} is needed. Without it the planner walks the index on {@code seq} from the
 *       start of history to find {@code min(seq)}.
 *   <li>The branch of the transactions in progress needs {@code lateral … limit}. Otherwise it is planned as one
 *       scan by {@code seq}.
 *   <li>That branch compares pairs instead of {@code tx = …}. Statistics can be from a time when most rows belonged
 *       to one transaction. With them the planner would walk the index on {@code seq} and check {@code tx}. The index
 *       on {@code seq} has no order by pairs, so the comparison of pairs prevents it.
 * </ul>
 *
 * <p>A page is bounded in rows and in bytes. This bounds what PostgreSQL sends and what the relay holds.
 * {@code octet_length} knows the size of a value without reading it. {@link ByteLimit} has the two ways to cut.
 *
 * <p>A page comes as one value, since one result row per event is expensive. PostgreSQL would write to its socket for
 * every few of them, and the driver would cost more than all other work on them. While there is a backlog, pages come by
 * {@link CopiedPages}.
 */
public final class OutboxTable implements AutoCloseable {
    private static final int SNAPSHOT = 1;
    private static final int AHEAD = 2;
    private static final int SESSION = 3;
    private static final int MORE = 4;
    private static final int EVENTS = 5;
    private static final int SEQUENCE = 6;

    /** The rows arrive in order of {@code seq}, and {@code string_agg} keeps that order. */
    private static final String PAGE = """
            {mark} as session, bool_and(more) as more,
            string_agg(
              case when withheld then {withheld} when too_large then {too large} else {event} end, '') as events,
            {sequence} as sequence
            from ({cut}) p
            """;

    /** An empty page costs no look for rows of another cluster: each window would find them. */
    private static final String OPEN_WINDOW = """
            -- relay: open window
            select pg_current_snapshot()::text as snapshot,
              case when bool_and(more) is not null then {ahead} end as ahead,
            """ + PAGE;

    private static final String OPEN_WINDOW_BRANCHES = """
            (select {columns} from {events}
              where (tx >= ?::xid8) is true
                and seq >= coalesce(?::bigint,
                  (select case when count(*) < ? then min(seq) else least(min(seq), ?::bigint + 1) end
                    from (select seq from {events} where tx >= ?::xid8 order by tx, seq limit ?) f))
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
            select null::text as snapshot, false as ahead,
            """ + PAGE;

    private static final String NEXT_PAGE_BRANCHES =
            WindowRows.LATER + WindowRows.BOTH + WindowRows.IN_PROGRESS + "\norder by seq limit ?";

    /**
     * How the lower bound of a window is found.
     *
     * @param probe with fewer unsent rows the bound is exact; it costs about 1 µs a row
     * @param fenceAge at most so old is the floor of a new window; rows that were written meanwhile may be read again
     */
    public record Bounds(int probe, Duration fenceAge) {
        static final Bounds DEFAULT = new Bounds(1_000, Duration.ofMillis(500));
    }

    private static final ByteBuffer NO_EVENTS = ByteBuffer.allocate(0);

    private final Map<ByteLimit, PreparedStatement> openWindow = new EnumMap<>(ByteLimit.class);
    private final Map<ByteLimit, PreparedStatement> nextPage = new EnumMap<>(ByteLimit.class);
    private final Connection connection;
    private final SqlIdentifier eventTable;
    private final Bounds bounds;
    private final SequenceFence fence;
    private final ServerProcess process;
    private final RelayConfig.Page limits;
    private final RecordAssembler assembler;
    private final CopiedPages copied;
    private ByteLimit cutting = ByteLimit.BY_ROW;

    /** @param connection in auto-commit mode, with the settings of {@link OutboxDatabase} */
    public OutboxTable(Connection connection, SqlIdentifier events, RelayConfig.Page limits, LargestEvent largest)
            throws SQLException {
        this(connection, events, limits, largest, Bounds.DEFAULT);
    }

    public OutboxTable(
            Connection connection, SqlIdentifier events, RelayConfig.Page limits, LargestEvent largest, Bounds bounds)
            throws SQLException {
        this.connection = connection;
        this.eventTable = events;
        this.bounds = bounds;
        this.limits = limits;
        this.process = ServerProcess.mark(connection);
        this.assembler = new RecordAssembler(largest);
        this.copied = new CopiedPages(connection, events, limits, assembler, process);
        planOnce(connection);
        this.fence = new SequenceFence(connection, events, bounds.fenceAge());
        for (ByteLimit each : ByteLimit.values()) {
            openWindow.put(each, connection.prepareStatement(openWindow(each, events, largest)));
            nextPage.put(each, connection.prepareStatement(nextPage(each, events, largest)));
        }
    }

    /**
     * Switches to plans that are made once: at the first execution, and again when the tables change. Planning takes
     * several times as long as a poll. A plan made for an empty slot is as good as a later one. Without sequential and
     * bitmap scans each branch has only one possible plan.
     */
    static void planOnce(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("set plan_cache_mode = force_generic_plan");
        }
    }

    public static String openWindow(ByteLimit cutting, SqlIdentifier events, LargestEvent largest) {
        return sql(OPEN_WINDOW, OPEN_WINDOW_BRANCHES, cutting, events, largest);
    }

    public static String nextPage(ByteLimit cutting, SqlIdentifier events, LargestEvent largest) {
        return sql(NEXT_PAGE, NEXT_PAGE_BRANCHES, cutting, events, largest);
    }

    private static String sql(
            String statement, String branches, ByteLimit cutting, SqlIdentifier events, LargestEvent largest) {
        return statement
                .replace("{cut}", cutting.sql())
                .replace("{mark}", ServerProcess.MARK)
                .replace("{sequence}", SequenceFence.file(events))
                .replace("{ahead}", ClusterCheck.isAhead(events))
                .replace("{too large}", RecordAssembler.tooLarge("seq", largest))
                .replace("{largest}", Long.toString(largest.countedBytes()))
                .replace("{event}", RecordAssembler.EVENT)
                .replace("{withheld}", RecordAssembler.WITHHELD)
                .replace("{branches}", branches)
                .replace("{size}", RowSize.sql())
                .replace("{columns}", WindowRows.COLUMNS)
                .replace("{events}", events.sql());
    }

    /**
     * The same position, without the floors that do not hold any more because the sequence was restarted. Called once,
     * with what was saved, before the first page.
     */
    public Position withoutFormerFloors(Position saved) throws SQLException {
        return fence.withoutFormerFloors(saved);
    }

    /** The first page of the rows that are visible now and were not in {@code from}. */
    public Slice openWindow(Snapshot from) throws SQLException {
        fence.renewIfDue();
        if (from.isEmpty()) {
            return openWindow(from, Long.MIN_VALUE);
        }
        if (from.floor() != null) {
            return openWindow(from, null);
        }
        return Transactions.<Slice, SQLException>inTransaction(connection, () -> {
            OutboxDatabase.useOneSnapshot(connection);
            return openWindow(from, FloorSearch.firstSeq(connection, eventTable, from, FloorSearch.STEP));
        });
    }

    /** @param first the smallest number that can be in the window; null: the statement finds it */
    private Slice openWindow(Snapshot from, @Nullable Long first) throws SQLException {
        return read(openWindow, (statement, next) -> {
            statement.setObject(next, from.xmax(), Types.OTHER);
            statement.setObject(next + 1, first, Types.BIGINT);
            statement.setInt(next + 2, bounds.probe());
            statement.setObject(next + 3, from.floor(), Types.BIGINT);
            statement.setObject(next + 4, from.xmax(), Types.OTHER);
            statement.setInt(next + 5, bounds.probe());
            statement.setInt(next + 6, limits.polledRows());
            statement.setObject(next + 7, from.inProgress(), Types.OTHER);
            statement.setInt(next + 8, limits.polledRows());
            statement.setInt(next + 9, limits.polledRows());
            statement.setInt(next + 10, limits.polledRows());
            return next + 11;
        });
    }

    /** The rows after {@code seq} of the window between two snapshots. */
    public Slice nextPage(Snapshot from, Snapshot to, long seq) throws SQLException {
        Slice slice = copied.isDue() ? copied.read(from, to, seq) : null;
        if (copied.hasWithheld()) {
            cutting = ByteLimit.BY_SUM; // The next row is a large one.
        }
        return slice == null ? nextByStatement(from, to, seq) : slice;
    }

    private Slice nextByStatement(Snapshot from, Snapshot to, long seq) throws SQLException {
        long first = from.floor() == null ? seq : Math.max(seq, from.floor());
        return read(nextPage, (statement, next) -> {
            statement.setLong(next, first);
            statement.setObject(next + 1, from.xmax(), Types.OTHER);
            statement.setObject(next + 2, to.text(), Types.OTHER);
            statement.setInt(next + 3, limits.polledRows());
            statement.setObject(next + 4, from.inProgress(), Types.OTHER);
            statement.setLong(next + 5, seq);
            statement.setInt(next + 6, limits.polledRows());
            statement.setObject(next + 7, to.text(), Types.OTHER);
            statement.setInt(next + 8, limits.polledRows());
            statement.setInt(next + 9, limits.polledRows());
            return next + 10;
        });
    }

    /** Binds the parameters of the branches, starting at an index; returns the next free index. */
    private interface Binding {
        int bind(PreparedStatement statement, int next) throws SQLException;
    }

    /** Large rows often come together, so {@link ByteLimit#BY_SUM} is used until a page has none. */
    private Slice read(Map<ByteLimit, PreparedStatement> statements, Binding branches) throws SQLException {
        Slice slice = null;
        if (cutting == ByteLimit.BY_ROW) {
            PreparedStatement statement = statement(statements, ByteLimit.BY_ROW);
            statement.setDouble(1, limits.share());
            branches.bind(statement, 2);
            slice = fetch(statement);
        }
        if (slice == null) {
            PreparedStatement statement = statement(statements, ByteLimit.BY_SUM);
            statement.setDouble(branches.bind(statement, 1), limits.bytes());
            slice = Objects.requireNonNull(fetch(statement), "a page cut by its sum withholds nothing");
        }
        copied.learn(slice);
        return slice;
    }

    /** One page; null if its first row is withheld. */
    private @Nullable Slice fetch(PreparedStatement statement) throws SQLException {
        try (ResultSet page = statement.executeQuery()) {
            page.next();
            process.check(page.getString(SESSION));
            fence.check(page.getString(SEQUENCE));
            ClusterCheck.refuse(page.getBoolean(AHEAD), eventTable);
            String snapshot = page.getString(SNAPSHOT);
            byte[] events = page.getBytes(EVENTS);
            return slice(
                    snapshot == null ? null : fence.bound(Snapshot.parse(snapshot)),
                    events == null ? NO_EVENTS : ByteBuffer.wrap(events),
                    page.getBoolean(MORE) ? Slice.Cut.MORE_TO_COME : Slice.Cut.NOTHING_LEFT);
        }
    }

    private @Nullable Slice slice(@Nullable Snapshot snapshot, ByteBuffer events, Slice.Cut cut) {
        List<OutboxRecord> records = new ArrayList<>();
        boolean more = cut == Slice.Cut.MORE_TO_COME;
        cutting = ByteLimit.BY_ROW;
        long before = assembler.bytes();
        while (events.hasRemaining()) {
            long start = assembler.bytes();
            OutboxRecord record = assembler.assemble(events);
            if (record == null) {
                cutting = ByteLimit.BY_SUM;
                more = true;
                break;
            }
            records.add(record);
            if (assembler.bytes() - start > limits.share()) {
                cutting = ByteLimit.BY_SUM;
            }
        }
        if (more && records.isEmpty()) {
            return null;
        }
        boolean full = more || records.size() >= limits.polledRows();
        return new Slice(
                records, snapshot, full ? Slice.Cut.MORE_TO_COME : Slice.Cut.NOTHING_LEFT, assembler.bytes() - before);
    }

    private static PreparedStatement statement(Map<ByteLimit, PreparedStatement> statements, ByteLimit cutting) {
        return Objects.requireNonNull(statements.get(cutting), "all are prepared by the constructor");
    }

    @Override
    public void close() throws SQLException {
        for (ByteLimit each : ByteLimit.values()) {
            statement(openWindow, each).close();
            statement(nextPage, each).close();
        }
        fence.close();
    }
}
