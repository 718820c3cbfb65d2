package dev.twinbox.lock;

import dev.twinbox.KeyLock;
import dev.twinbox.jdbc.SqlIdentifier;
import dev.twinbox.schema.LockSchema;
import jakarta.transaction.TransactionSynchronizationRegistry;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** The parts of the locks as the bean puts them together, and hooks between them. */
final class HuntMParts {

    final PlainTransactions transactions;
    final FenceTable fences;
    final LockDatabase database;
    final LockGrants grants;
    final DataSource source;

    /** Runs before a transaction of its own begins. */
    volatile Runnable beforeNewTransaction = () -> {};
    /** Runs when the key of the transaction is asked for. */
    volatile Runnable beforeTransactionKey = () -> {};
    /** The data source of the locks gives no connection. */
    volatile boolean isExhausted;

    HuntMParts(PGSimpleDataSource physical, QuickLeases leases, java.util.concurrent.Executor later) {
        transactions = new PlainTransactions(physical);
        LockSchema tables = LockSchema.of(new SqlIdentifier(null, "outbox_event"));
        fences = new FenceTable(tables);
        source = transactions.dataSource();
        Consumer<Runnable> runNew = work -> {
            beforeNewTransaction.run();
            transactions.runNew(work);
        };
        database = new LockDatabase("test", hooked(transactions), runNew, failing(source));
        grants = new LockGrants(new FencedLock.Store(database, fences, leases, later));
    }

    private TransactionSynchronizationRegistry hooked(TransactionSynchronizationRegistry registry) {
        return (TransactionSynchronizationRegistry) Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {TransactionSynchronizationRegistry.class},
                (proxy, method, arguments) -> {
                    if (method.getName().equals("getTransactionKey")) {
                        beforeTransactionKey.run();
                    }
                    try {
                        return method.invoke(registry, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private DataSource failing(DataSource real) {
        return (DataSource) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {DataSource.class}, (proxy, method, arguments) -> {
                    if (isExhausted) {
                        throw new SQLException("no connection became free in time");
                    }
                    try {
                        return method.invoke(real, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    Optional<KeyLock> tryLock(String key, Duration lease) {
        LockRules.checkKey(key);
        LockRules.checkLease(lease);
        try {
            return grants.grant(key, lease);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    boolean tryLockInTransaction(String key) {
        try {
            return database.inCallersTransaction(connection -> fences.lockInTransaction(connection, key));
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    void inTransaction(PlainTransactions.Work<Object> work) throws SQLException {
        transactions.run(work);
    }

    void insert(String key, String holder) throws SQLException {
        try (Connection connection = source.getConnection();
                PreparedStatement insert = connection.prepareStatement("insert into effect (key, holder) values (?, ?)")) {
            insert.setString(1, key);
            insert.setString(2, holder);
            insert.executeUpdate();
        }
    }

    void sql(String text) throws SQLException {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(text);
        }
    }

    String one(String query) throws SQLException {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            return row.next() ? row.getString(1) : null;
        }
    }

    /** What is logged at INFO and above. */
    static List<String> log() {
        List<String> lines = new CopyOnWriteArrayList<>();
        Logger logger = Logger.getLogger("dev.twinbox.lock");
        KEPT.add(logger);
        logger.setLevel(Level.INFO);
        logger.addHandler(new Handler() {
            @Override
            public void publish(LogRecord entry) {
                lines.add(entry.getLevel() + " " + new java.util.logging.SimpleFormatter().formatMessage(entry));
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        });
        return lines;
    }

    private static final List<Logger> KEPT = new CopyOnWriteArrayList<>();

    static void say(String attack, Object what) {
        System.out.println("HUNTM " + attack + ": " + String.valueOf(what).replace('\n', ' '));
    }

    static String chain(Throwable thrown) {
        StringBuilder text = new StringBuilder();
        for (Throwable each = thrown; each != null; each = each.getCause()) {
            text.append(" <- ").append(each);
        }
        return text.toString();
    }
}
