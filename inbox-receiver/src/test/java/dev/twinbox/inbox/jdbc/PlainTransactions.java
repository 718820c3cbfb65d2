package dev.twinbox.inbox.jdbc;

import jakarta.transaction.Status;
import jakarta.transaction.Synchronization;
import jakarta.transaction.TransactionSynchronizationRegistry;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Transactions of one thread without a container. They behave as a container's, and can be broken. */
public final class PlainTransactions {

    private final Supplier<Connection> connections;
    private final ThreadLocal<Current> current = new ThreadLocal<>();
    private int broken;

    private static final class Current {
        private @Nullable Connection connection;
        private @Nullable Synchronization synchronization;
        private boolean rollbackOnly;
    }

    public PlainTransactions(Supplier<Connection> connections) {
        this.connections = connections;
    }

    /** The next connections fail at their first use, as those of a pool after a restart of the server. */
    public void breakNext(int number) {
        broken = number;
    }

    public JtaDatabase database() {
        return new JtaDatabase(new Transaction(), registry(), dataSource());
    }

    private final class Transaction extends NewTransaction {
        @Override
        public void run(Runnable work) {
            Current mine = new Current();
            current.set(mine);
            try {
                work.run();
                end(mine);
            } catch (SQLException e) {
                throw new IllegalStateException("the commit failed", e);
            } finally {
                current.remove();
            }
        }
    }

    private static void end(Current mine) throws SQLException {
        Connection connection = mine.connection;
        if (connection != null) {
            try (connection) {
                if (mine.rollbackOnly) {
                    connection.rollback();
                } else {
                    connection.commit();
                }
            }
        }
        if (mine.synchronization != null) {
            mine.synchronization.afterCompletion(
                    mine.rollbackOnly ? Status.STATUS_ROLLEDBACK : Status.STATUS_COMMITTED);
        }
    }

    private TransactionSynchronizationRegistry registry() {
        return proxy(TransactionSynchronizationRegistry.class, (self, method, arguments) -> {
            switch (method.getName()) {
                case "registerInterposedSynchronization" ->
                    current.get().synchronization = (Synchronization) arguments[0];
                case "setRollbackOnly" -> current.get().rollbackOnly = true;
                default -> throw new UnsupportedOperationException(method.getName());
            }
            return null;
        });
    }

    private DataSource dataSource() {
        return proxy(DataSource.class, (self, method, arguments) -> {
            if (!method.getName().equals("getConnection")) {
                throw new UnsupportedOperationException(method.getName());
            }
            if (broken > 0) {
                broken--;
                throw new SQLException("This connection has been closed.", "08003");
            }
            Connection connection = connections.get();
            connection.setAutoCommit(false);
            current.get().connection = connection;
            return proxy(Connection.class, (wrapper, called, values) -> {
                try {
                    return called.getName().equals("close") ? null : called.invoke(connection, values);
                } catch (java.lang.reflect.InvocationTargetException e) {
                    throw e.getCause();
                }
            });
        });
    }

    private static <T> T proxy(Class<T> type, java.lang.reflect.InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }
}
