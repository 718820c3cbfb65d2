package dev.twinbox.lock;

import dev.twinbox.KeyLock;
import dev.twinbox.jdbc.SqlIdentifier;
import dev.twinbox.schema.LockSchema;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executor;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** The parts of the locks as the bean puts them together, on plain transactions. */
final class LockParts {

    static final LockSchema TABLES = LockSchema.of(new SqlIdentifier(null, "outbox_event"));

    /** The name server is asked by the caller. */
    static final RedisLeases.Sockets SOCKETS = new RedisLeases.Sockets(Runnable::run, null);

    final PlainTransactions transactions;
    final LockDatabase database;
    final FenceTable fences;
    private final LockGrants grants;

    /** Whether the locks' data source gives no connection. */
    volatile boolean isExhausted;

    /** @param leases null: in the database */
    LockParts(String url, String user, String password, QuickLeases leases) {
        this(physical(url, user, password), new FenceTable(TABLES), leases);
    }

    LockParts(PGSimpleDataSource physical, FenceTable fences, QuickLeases leases) {
        this(physical, fences, leases, Runnable::run);
    }

    /** @param later runs what has waited for the end of a transaction */
    LockParts(PGSimpleDataSource physical, FenceTable fences, QuickLeases leases, Executor later) {
        this.fences = fences;
        transactions = new PlainTransactions(physical);
        database = new LockDatabase("test", transactions, transactions::runNew, exhaustible(transactions.dataSource()));
        grants = new LockGrants(new FencedLock.Store(database, fences, leases, later));
    }

    static PGSimpleDataSource physical(String url, String user, String password) {
        PGSimpleDataSource physical = new PGSimpleDataSource();
        physical.setUrl(url);
        physical.setUser(user);
        physical.setPassword(password);
        return physical;
    }

    private DataSource exhaustible(DataSource real) {
        return (DataSource) Proxy.newProxyInstance(
                DataSource.class.getClassLoader(), new Class<?>[] {DataSource.class}, (p, m, a) -> {
                    if (isExhausted) {
                        throw new SQLException("no connection became free in time");
                    }
                    try {
                        return m.invoke(real, a);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    static QuickLeases redis(String url, int limitMillis) {
        return new RedisLeases(
                new LockConfiguration.Redis(RedisAddress.parse(url), null, null),
                () -> "twinbox:",
                limitMillis,
                SOCKETS);
    }

    Optional<KeyLock> tryLock(String key, Duration lease) {
        try {
            return grants.grant(key, lease);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Runs work in a transaction; a connection of {@code database} is in it. */
    <T> T inTransaction(PlainTransactions.Work<T> work) {
        try {
            return transactions.run(work);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
