package dev.twinbox.relay.jdbc;

/** The SQL of an open window's rows. Both ways to read a page have it in common: by statement and by {@code COPY}. */
final class WindowRows {

    /** The columns of an event, in any table that holds events. */
    static final String COLUMNS = "seq, " + RecordAssembler.COLUMNS;

    /** The rows of the window whose transactions began, or ended, after {@code from}. */
    static final String LATER = """
            (select {columns} from {events}
              where seq > ? and (tx >= ?::xid8) is true and pg_visible_in_snapshot(tx, ?::pg_snapshot)
              order by seq limit ?)""";

    /** The rows of the window whose transactions were in progress in {@code from}. */
    static final String IN_PROGRESS = """
            (select l.* from unnest(?::xid8[]) x(tx)
              cross join lateral (
                select {columns} from {events} e
                where (e.tx, e.seq) > (x.tx, ?::bigint) and e.tx <= x.tx
                order by e.tx, e.seq limit ?) l
              where pg_visible_in_snapshot(x.tx, ?::pg_snapshot)
              order by seq limit ?)""";

    static final String BOTH = "\nunion all\n";

    private WindowRows() {}
}
