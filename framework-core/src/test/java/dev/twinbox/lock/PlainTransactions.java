package dev.twinbox.lock;

import jakarta.transaction.Status;
import jakarta.transaction.Synchronization;
import jakarta.transaction.TransactionSynchronizationRegistry;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import javax.sql.DataSource;

/** Transactions of one database as a container has them, without a container: for processes that are paused and killed. */
final class PlainTransactions implements TransactionSynchronizationRegistry {

    /** What a transaction does. */
    interface Work<T> {
        T run() throws SQLException;
    }

    private static final class Unit {
        final List<Synchronization> synchronizations = new ArrayList<>();
        boolean isRollbackOnly;
        Connection connection;
    }

    private final DataSource physical;
    private final ThreadLocal<Deque<Unit>> units = ThreadLocal.withInitial(ArrayDeque::new);

    PlainTransactions(DataSource physical) {
        this.physical = physical;
    }

    /** Runs work in a new transaction and commits, unless it was marked for rollback or throws. */
    <T> T run(Work<T> work) throws SQLException {
        Unit unit = new Unit();
        units.get().push(unit);
        boolean isCommitted = false;
        try {
            T result = work.run();
            isCommitted = !unit.isRollbackOnly;
            return result;
        } finally {
            end(unit, isCommitted);
        }
    }

    private void end(Unit unit, boolean isCommitted) throws SQLException {
        int status = Status.STATUS_ROLLEDBACK;
        try {
            if (unit.connection != null && isCommitted) {
                unit.connection.commit();
            }
            status = isCommitted ? Status.STATUS_COMMITTED : status;
        } finally {
            if (unit.connection != null) {
                unit.connection.close(); // which rolls back what was not committed
            }
            units.get().pop();
            for (Synchronization each : unit.synchronizations) {
                each.afterCompletion(status);
            }
        }
    }

    /** As REQUIRES_NEW. */
    void runNew(Runnable work) {
        try {
            run(() -> {
                work.run();
                return true;
            });
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A data source whose connections belong to the current transaction, or are in auto-commit without one. */
    DataSource dataSource() {
        return (DataSource) Proxy.newProxyInstance(
                DataSource.class.getClassLoader(), new Class<?>[] {DataSource.class}, (p, m, a) -> {
                    if (!m.getName().equals("getConnection")) {
                        throw new UnsupportedOperationException(m.getName());
                    }
                    return connection();
                });
    }

    private Connection connection() throws SQLException {
        Unit unit = units.get().peek();
        if (unit == null) {
            return physical.getConnection();
        }
        if (unit.connection == null) {
            unit.connection = physical.getConnection();
            unit.connection.setAutoCommit(false);
        }
        Connection shared = unit.connection;
        return (Connection) Proxy.newProxyInstance(
                Connection.class.getClassLoader(), new Class<?>[] {Connection.class}, (p, m, a) -> {
                    if (m.getName().equals("close")) {
                        return null;
                    }
                    try {
                        return m.invoke(shared, a);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    @Override
    public Object getTransactionKey() {
        return units.get().peek();
    }

    @Override
    public int getTransactionStatus() {
        Unit unit = units.get().peek();
        if (unit == null) {
            return Status.STATUS_NO_TRANSACTION;
        }
        return unit.isRollbackOnly ? Status.STATUS_MARKED_ROLLBACK : Status.STATUS_ACTIVE;
    }

    @Override
    public void registerInterposedSynchronization(Synchronization synchronization) {
        units.get().element().synchronizations.add(synchronization);
    }

    @Override
    public void setRollbackOnly() {
        current().isRollbackOnly = true;
    }

    @Override
    public boolean getRollbackOnly() {
        return current().isRollbackOnly;
    }

    private Unit current() {
        Unit unit = units.get().peek();
        if (unit == null) {
            throw new IllegalStateException("there is no transaction"); // as the registry of a server
        }
        return unit;
    }

    @Override
    public void putResource(Object key, Object value) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Object getResource(Object key) {
        throw new UnsupportedOperationException();
    }
}
