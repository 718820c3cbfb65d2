package dev.twinbox.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

/** Transactions of a plain connection, which is in auto-commit mode before and after. Not for connections under JTA. */
public final class Transactions {

    /**
     * What is done in a transaction.
     *
     * @param <X> what it throws besides; {@code RuntimeException} if nothing
     */
    @FunctionalInterface
    public interface Work<T, X extends Exception> {
        T run() throws SQLException, X;
    }

    /** As {@link Work}, without a result. */
    @FunctionalInterface
    public interface Action<X extends Exception> {
        void run() throws SQLException, X;
    }

    private interface End {
        void of(Connection connection) throws SQLException;
    }

    private Transactions() {}

    /**
     * Commits what the work does; rolls back if it throws.
     *
     * @throws SQLException if the commit fails; then it may have happened or not
     */
    public static <T, X extends Exception> T inTransaction(Connection connection, Work<T, X> work)
            throws SQLException, X {
        return run(connection, work, Connection::commit);
    }

    /** As {@link #inTransaction(Connection, Work)}, without a result. */
    public static <X extends Exception> void inTransaction(Connection connection, Action<X> action)
            throws SQLException, X {
        Work<Boolean, X> work = () -> {
            action.run();
            return true;
        };
        run(connection, work, Connection::commit);
    }

    /**
     * Rolls back what the work does, also if it succeeds. For dry runs, and for locks that are held during the work.
     */
    public static <T, X extends Exception> T inRolledBackTransaction(Connection connection, Work<T, X> work)
            throws SQLException, X {
        return run(connection, work, Connection::rollback);
    }

    private static <T, X extends Exception> T run(Connection connection, Work<T, X> work, End end)
            throws SQLException, X {
        connection.setAutoCommit(false);
        T result;
        try {
            result = work.run();
            end.of(connection);
        } catch (Throwable e) {
            rollBackAfter(e, connection);
            throw e;
        }
        connection.setAutoCommit(true);
        return result;
    }

    /** On a lost connection this fails, too. The first failure is the one to report. */
    private static void rollBackAfter(Throwable failure, Connection connection) {
        try {
            connection.rollback();
            connection.setAutoCommit(true);
        } catch (SQLException e) {
            failure.addSuppressed(e);
        }
    }
}
