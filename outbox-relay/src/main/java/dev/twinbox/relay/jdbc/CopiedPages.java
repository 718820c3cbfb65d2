package dev.twinbox.relay.jdbc;

import dev.twinbox.jdbc.SqlIdentifier;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.Slice.Cut;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads the pages of an open window by {@code COPY}, while there is a backlog. A row costs PostgreSQL half as much as in
 * a page of {@link OutboxTable}'s statements. But the statement is planned each time, so small pages cost more.
 *
 * <p>{@code COPY} takes no parameters. The values in its text are numbers and snapshots that {@link Snapshot} has
 * checked, and nothing else. The first row of the answer is no event: it has the mark of the {@link ServerProcess}.
 *
 * <p>One statement reads one page, to its end, whatever Kafka does meanwhile. So it never stays open for long. Its limit
 * of rows is chosen so that the page has about the allowed bytes. If they are reached before, the rest of the rows is
 * dropped and read again with the next page. That rest is bounded, because the content of large rows is withheld.
 *
 * <p>Bound to one connection; not for several threads.
 */
final class CopiedPages {
    private static final String COPY = """
            -- relay: copy the next page of the window
            copy (
            {query}
            ) to stdout (format binary)
            """;

    private static final String QUERY = """
            select {marked}
            union all
            (select {tuple} from (
              select b.*, {size} > {share} as withheld from ({branches}) b order by seq offset 0) p)""";

    /** With fewer rows in the bytes of a page, planning costs too much. */
    private static final int LEAST_ROWS = 64;

    /** The rows of a page are chosen for so many tenths of its bytes, so that it is rarely too small for them. */
    private static final long FILLED = 9;

    /** A row that is larger than the average by this factor is withheld. */
    private static final int LARGE = 8;

    /** But it is not withheld if a page can hold so many of them. */
    private static final int LARGE_PER_PAGE = 16;

    /** After rows were dropped, the next page is not much larger than what was kept, and has at least so many rows. */
    private static final int FEW_ROWS = 500;

    private final Connection connection;
    private final SqlIdentifier events;
    private final RelayConfig.Page limits;
    private final RecordAssembler assembler;
    private final ServerProcess process;
    private long average; // bytes of a row, lately
    private int most;
    private boolean withheld;

    CopiedPages(
            Connection connection,
            SqlIdentifier events,
            RelayConfig.Page limits,
            RecordAssembler assembler,
            ServerProcess process) {
        this.connection = connection;
        this.events = events;
        this.limits = limits;
        this.assembler = assembler;
        this.process = process;
        this.average = limits.bytes();
        this.most = limits.rows();
    }

    /** Whether the next page should come this way. Not if the last one has ended before a withheld row. */
    boolean isDue() {
        return !withheld && average * LEAST_ROWS <= limits.bytes();
    }

    /** Whether the last page has ended before a row whose content was withheld. */
    boolean hasWithheld() {
        return withheld;
    }

    /** Learns from a page of either kind how large rows are. More is believed at once, less only by and by. */
    void learn(Slice page) {
        if (!page.records().isEmpty()) {
            long now = page.bytes() / page.records().size();
            average = Math.max(now, average == limits.bytes() ? 0 : (average + now) / 2);
            withheld = false;
        }
    }

    /** The rows after {@code seq} of the window between two snapshots; null if the first one is withheld. */
    @Nullable Slice read(Snapshot from, Snapshot to, long seq) throws SQLException {
        int rows = (int) Math.max(1, Math.min(most, limits.bytes() * FILLED / 10 / average));
        String query = query(events, from, to, seq, rows, share());
        Reading reading = new Reading(rows, seq);
        try (CopiedRows copied = CopiedRows.of(connection, COPY.replace("{query}", query))) {
            checkMark(copied);
            reading.readAll(copied);
        }
        Slice slice = new Slice(reading.records, null, reading.cut(), reading.bytes);
        learn(slice);
        withheld = reading.end == End.WITHHELD;
        int fits = Math.max(FEW_ROWS, slice.records().size());
        most = Math.min(limits.rows(), withheld ? fits : 2 * Math.max(most, FEW_ROWS));
        return slice.records().isEmpty() && withheld ? null : slice;
    }

    /** A larger row is withheld. So is one that can never be sent. */
    private long share() {
        long share = Math.max((long) limits.share(), Math.min(LARGE * average, limits.bytes() / LARGE_PER_PAGE));
        return Math.min(share, assembler.largest().countedBytes());
    }

    private void checkMark(CopiedRows copied) throws SQLException {
        if (!copied.next()) {
            throw new IllegalStateException("COPY has returned nothing: connect the relay to PostgreSQL itself");
        }
        process.check(assembler.mark(copied.message(), copied.start()));
    }

    /** The query of a page: as {@link OutboxTable#nextPage}, with values instead of parameters. */
    static String query(SqlIdentifier events, Snapshot from, Snapshot to, long seq, int rows, long share) {
        String later = literals(
                WindowRows.LATER,
                Long.toString(from.floor() == null ? seq : Math.max(seq, from.floor())),
                quoted(from.xmax()),
                quoted(to.text()),
                Integer.toString(rows));
        String inProgress = literals(
                WindowRows.IN_PROGRESS,
                quoted(from.inProgress()),
                Long.toString(seq),
                Integer.toString(rows),
                quoted(to.text()),
                Integer.toString(rows));
        String both = later + WindowRows.BOTH + inProgress + "\norder by seq limit " + rows;
        return QUERY.replace("{marked}", RecordAssembler.MARKED)
                .replace("{tuple}", RecordAssembler.TUPLE)
                .replace("{branches}", from.hasInProgress() ? both : later)
                .replace("{size}", RowSize.sql())
                .replace("{share}", Long.toString(share))
                .replace("{columns}", WindowRows.COLUMNS)
                .replace("{events}", events.sql());
    }

    /** The text of a snapshot or of a part of it: digits and punctuation, see {@link Snapshot#parse}. */
    private static String quoted(String snapshot) {
        return "'" + snapshot + "'";
    }

    /** Puts values in the places of the question marks, one after the other. */
    private static String literals(String sql, String... values) {
        StringBuilder text = new StringBuilder();
        int from = 0;
        for (String value : values) {
            int at = sql.indexOf('?', from);
            text.append(sql, from, at).append(value);
            from = at + 1;
        }
        return text.append(sql, from, sql.length()).toString();
    }

    /** Why no more rows of the answer were kept. */
    private enum End {
        ALL_READ,
        BYTES,
        WITHHELD
    }

    /** One page while it is read. */
    private final class Reading {
        private final List<OutboxRecord> records;
        private final int rows;
        private long last;
        private long bytes;
        private End end = End.ALL_READ;

        Reading(int rows, long seq) {
            this.records = new ArrayList<>(rows);
            this.rows = rows;
            this.last = seq;
        }

        void readAll(CopiedRows copied) throws SQLException {
            while (end == End.ALL_READ && copied.next()) {
                long before = assembler.bytes();
                OutboxRecord record = assembler.assemble(copied.message(), copied.start());
                long size = assembler.bytes() - before;
                if (record == null) {
                    end = End.WITHHELD;
                } else if (bytes + size > limits.bytes() && !records.isEmpty()) {
                    end = End.BYTES;
                } else {
                    add(record, size);
                }
            }
        }

        /** Rows that came in another order would be skipped: the position moves to the last one. */
        private void add(OutboxRecord record, long size) {
            if (record.seq() < last) {
                throw new IllegalStateException("COPY has returned seq " + record.seq() + " after " + last
                        + ", which is not the order of the statement: connect the relay to PostgreSQL itself");
            }
            last = record.seq();
            bytes += size;
            records.add(record);
        }

        Cut cut() {
            return end != End.ALL_READ || records.size() >= rows ? Cut.MORE_TO_COME : Cut.NOTHING_LEFT;
        }
    }
}
