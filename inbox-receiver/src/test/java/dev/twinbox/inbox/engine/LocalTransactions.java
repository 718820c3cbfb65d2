package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.Database;
import dev.twinbox.inbox.jdbc.JtaDatabase;
import dev.twinbox.inbox.jdbc.NewTransaction;
import jakarta.transaction.Status;
import jakarta.transaction.Synchronization;
import jakarta.transaction.TransactionSynchronizationRegistry;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** Transactions of one connection for code that expects a container's. */
final class LocalTransactions extends NewTransaction {

    private final Database database;
    private final ThreadLocal<Current> current = new ThreadLocal<>();

    private static final class Current {
        final Connection connection;
        final List<Synchronization> synchronizations = new ArrayList<>();
        boolean rollback;

        Current(Connection connection) {
            this.connection = connection;
        }
    }

    private LocalTransactions(Database database) {
        this.database = database;
    }

    static JtaDatabase on(Database database) {
        LocalTransactions transactions = new LocalTransactions(database);
        return new JtaDatabase(transactions, transactions.registry(), transactions.dataSource());
    }

    @Override
    public void run(Runnable work) {
        Current outer = current.get();
        try (Connection connection = database.connect()) {
            connection.setAutoCommit(false);
            Current mine = new Current(connection);
            current.set(mine);
            work.run();
            mine.synchronizations.forEach(Synchronization::beforeCompletion);
            if (mine.rollback) {
                connection.rollback();
            } else {
                connection.commit();
            }
            int status = mine.rollback ? Status.STATUS_ROLLEDBACK : Status.STATUS_COMMITTED;
            mine.synchronizations.forEach(synchronization -> synchronization.afterCompletion(status));
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        } finally {
            current.set(outer);
        }
    }

    private TransactionSynchronizationRegistry registry() {
        return proxy(TransactionSynchronizationRegistry.class, (method, arguments) -> switch (method) {
            case "registerInterposedSynchronization" ->
                current.get().synchronizations.add((Synchronization) arguments[0]) ? null : null;
            case "setRollbackOnly" -> {
                current.get().rollback = true;
                yield null;
            }
            default -> throw new UnsupportedOperationException(method);
        });
    }

    private DataSource dataSource() {
        return proxy(DataSource.class, (method, arguments) -> switch (method) {
            case "getConnection" -> handle(current.get().connection);
            default -> throw new UnsupportedOperationException(method);
        });
    }

    /** Closing a handle does not end the transaction. */
    private static Connection handle(Connection connection) {
        return (Connection) Proxy.newProxyInstance(
                LocalTransactions.class.getClassLoader(), new Class<?>[] {Connection.class}, (p, method, arguments) -> {
                    if (method.getName().equals("close")) {
                        return null;
                    }
                    try {
                        return method.invoke(connection, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private interface Answer {
        Object to(String method, Object[] arguments) throws SQLException;
    }

    private static <T> T proxy(Class<T> type, Answer answer) {
        return type.cast(Proxy.newProxyInstance(
                LocalTransactions.class.getClassLoader(),
                new Class<?>[] {type},
                (p, method, arguments) -> answer.to(method.getName(), arguments)));
    }
}
