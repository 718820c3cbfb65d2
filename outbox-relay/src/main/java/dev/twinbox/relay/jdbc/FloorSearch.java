package dev.twinbox.relay.jdbc;

import dev.twinbox.jdbc.SqlIdentifier;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;

/**
 * Looks for the first number of what a snapshot does not show, if the snapshot has no floor. It reads all that is
 * unsent, in steps, so that no statement reaches its timeout. A position has no floor if it was saved by an older
 * relay or by {@code rebase}. So this happens once. The result holds only in the transaction's own snapshot.
 */
final class FloorSearch {
    /** Takes well below a second. */
    static final int STEP = 200_000;

    private static final String NEXT = """
            -- relay: look for the first number after a snapshot
            with c as materialized (
              select tx, seq from {events} where (tx, seq) > (?::xid8, ?::bigint) order by tx, seq limit ?)
            select l.tx::text, l.seq, (select min(seq) from c), (select count(*) from c)
            from (select tx, seq from c order by tx desc, seq desc limit 1) l
            """;

    private FloorSearch() {}

    /**
     * The smallest number of the visible rows at or after {@code xmax}; {@link Long#MAX_VALUE}: there are none.
     *
     * @param connection in a transaction that uses one snapshot
     * @param step how many rows one statement reads
     */
    static long firstSeq(Connection connection, SqlIdentifier events, Snapshot from, int step) throws SQLException {
        long first = Long.MAX_VALUE;
        try (PreparedStatement next = connection.prepareStatement(NEXT.replace("{events}", events.sql()))) {
            String tx = from.xmax();
            long seq = Long.MIN_VALUE;
            for (int read = step; read == step; ) {
                next.setObject(1, tx, Types.OTHER);
                next.setLong(2, seq);
                next.setInt(3, step);
                try (ResultSet row = next.executeQuery()) {
                    if (!row.next()) {
                        return first;
                    }
                    tx = row.getString(1);
                    seq = row.getLong(2);
                    first = Math.min(first, row.getLong(3));
                    read = row.getInt(4);
                }
            }
        }
        return first;
    }
}
