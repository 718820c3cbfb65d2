package dev.twinbox.inbox.jdbc;

import dev.twinbox.inbox.jdbc.JtaDatabase.Work;
import dev.twinbox.jdbc.FailureSubject;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Runs what the receiver writes about events, outside of their own transactions. It must succeed whenever the database
 * works, because an event whose result cannot be written holds up others.
 *
 * <p>A pool may still hold connections that are broken: after a failed commit, after a restart of the server, or
 * because the server behind them can only be read since a fail-over. So work is repeated on other connections.
 */
public final class RetriedWrites {

    /** A pool may hold several broken connections, one for each worker. */
    private static final int MOST_TRIES = 8;

    /** A server that was made read-only may be behind all connections of a pool. */
    private static final int MOST_READ_ONLY = 256;

    private static final long LONGEST_NANOS = TimeUnit.SECONDS.toNanos(5);

    private static final String LOOK = """
            -- inbox: look at the server
            select current_setting('transaction_read_only') = 'on' as is_read_only,
                   extract(epoch from clock_timestamp() - pg_postmaster_start_time()) as server_seconds,
                   extract(epoch from clock_timestamp() - backend_start) as connection_seconds
              from pg_stat_activity
             where pid = pg_backend_pid()""";

    /** A pool drops a connection that ends, but not one that can only read. */
    private static final String END_CONNECTION = """
            -- inbox: end a connection that can only read, so that the pool opens a new one
            select pg_terminate_backend(pg_backend_pid())""";

    private final JtaDatabase database;

    public RetriedWrites(JtaDatabase database) {
        this.database = database;
    }

    /**
     * Runs the work in a transaction of its own. If that fails because of the connection or the moment, runs it again
     * in a new one. Returns after a commit.
     *
     * @param work may run again after a commit of unknown outcome, so it must be idempotent
     */
    public <T> T run(Work<T> work) throws SQLException {
        long begin = System.nanoTime();
        for (int tries = 1; ; tries++) {
            try {
                return database.inTransaction(work);
            } catch (SQLException e) {
                boolean isOver = tries == MOST_TRIES || System.nanoTime() - begin >= LONGEST_NANOS;
                if (isOver || !mayWorkOnAnotherConnection(e)) {
                    throw e;
                }
                if (Faults.isReadOnly(e)) {
                    endReadOnlyConnections();
                }
            }
        }
    }

    private static boolean mayWorkOnAnotherConnection(SQLException failure) {
        FailureSubject subject = Faults.subjectOf(failure);
        return subject != FailureSubject.EVENT && subject != FailureSubject.CONFIGURATION;
    }

    /** Ends the pool's connections that can only read, at least until the pool gives one that can write. */
    public void endReadOnlyConnections() {
        isWritableSince(System.nanoTime());
    }

    /**
     * Whether the database can be written now, and has not been started again since that time. Ends connections that
     * can only read, except one that was just opened: the server that is reached now only reads.
     *
     * @param nanoTime as {@link System#nanoTime} gave it
     */
    public boolean isWritableSince(long nanoTime) {
        long begin = System.nanoTime();
        int failures = 0;
        for (int readOnly = 0; readOnly < MOST_READ_ONLY && failures < MOST_TRIES + readOnly; ) {
            Server server = look(begin);
            if (server != null && !server.isReadOnly()) {
                return server.seconds() > secondsSince(nanoTime);
            }
            boolean isNewConnection = server != null && server.isOpenedSince(begin);
            if (isNewConnection || System.nanoTime() - begin >= LONGEST_NANOS) {
                return false;
            }
            if (server == null) {
                failures++; // also once for each connection that was ended: the pool drops it when it is used again
            } else {
                readOnly++;
            }
        }
        return false;
    }

    private static double secondsSince(long nanoTime) {
        return (System.nanoTime() - nanoTime) / 1e9;
    }

    /**
     * A server as seen through one connection.
     *
     * @param seconds how long ago it was started
     * @param connectionSeconds how long ago the connection was opened
     */
    private record Server(boolean isReadOnly, double seconds, double connectionSeconds) {

        boolean isOpenedSince(long nanoTime) {
            return connectionSeconds < secondsSince(nanoTime);
        }
    }

    /** Null if there was no answer. */
    private @Nullable Server look(long begin) {
        Look look = new Look(begin);
        try {
            return database.inTransaction(look);
        } catch (SQLException e) {
            return look.seen; // a connection that was ended fails too, but was looked at before
        }
    }

    private static final class Look implements Work<Server> {
        private final long begin;
        private @Nullable Server seen;

        Look(long begin) {
            this.begin = begin;
        }

        @Override
        public Server run(Connection connection) throws SQLException {
            try (Statement statement = connection.createStatement()) {
                Server server = server(statement);
                seen = server;
                if (server.isReadOnly() && !server.isOpenedSince(begin)) {
                    statement.execute(END_CONNECTION);
                }
                return server;
            }
        }

        private static Server server(Statement statement) throws SQLException {
            try (ResultSet row = statement.executeQuery(LOOK)) {
                row.next();
                return new Server(
                        row.getBoolean("is_read_only"),
                        row.getDouble("server_seconds"),
                        row.getDouble("connection_seconds"));
            }
        }
    }
}
