package dev.twinbox.lock;

import dev.twinbox.InvalidConfigurationException;
import dev.twinbox.TwinboxException;
import dev.twinbox.jdbc.NewTransactionCall;
import jakarta.transaction.Status;
import jakarta.transaction.Synchronization;
import jakarta.transaction.TransactionRequiredException;
import jakarta.transaction.TransactionSynchronizationRegistry;
import jakarta.transaction.TransactionalException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.function.Consumer;
import javax.naming.InitialContext;
import javax.naming.NamingException;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** The database of the locks, reached in JTA transactions. */
final class LockDatabase {

    private static final Logger LOG = System.getLogger(LockDatabase.class.getName());

    private final String name;
    private final TransactionSynchronizationRegistry registry;
    private final Consumer<Runnable> newTransaction;
    private final Consumer<Runnable> callersTransaction;

    /** Written by the first thread that needs it; all would write the same. */
    private volatile @Nullable DataSource dataSource;

    /** Work on a connection. */
    interface Work<T> {
        T run(Connection connection) throws SQLException;
    }

    /**
     * Looks nothing up yet.
     *
     * @param name JNDI name of the data source
     * @param newTransaction runs work in a transaction of its own
     * @param callersTransaction runs work where a connection is in the caller's transaction
     */
    LockDatabase(
            String name,
            TransactionSynchronizationRegistry registry,
            Consumer<Runnable> newTransaction,
            Consumer<Runnable> callersTransaction) {
        this.name = name;
        this.registry = registry;
        this.newTransaction = newTransaction;
        this.callersTransaction = callersTransaction;
    }

    /** As the other one, with a data source that is known, and whose connections are always in the transaction. */
    LockDatabase(
            String name,
            TransactionSynchronizationRegistry registry,
            Consumer<Runnable> newTransaction,
            DataSource dataSource) {
        this(name, registry, newTransaction, Runnable::run);
        this.dataSource = dataSource;
    }

    /** JNDI name of the data source. */
    String name() {
        return name;
    }

    /** Runs the work in a transaction of its own. Returns after the commit. */
    <T> T inNewTransaction(Work<T> work) throws SQLException {
        try {
            return NewTransactionCall.run(newTransaction, registry, () -> onConnection(work));
        } catch (SQLException e) {
            if (e.getCause() instanceof InvalidConfigurationException wrong) {
                throw wrong;
            }
            throw e;
        }
    }

    /**
     * Runs the work in the caller's transaction, see {@link #requireTransaction}. No connection is opened outside of it: on
     * Payara that alone does harm, since the pool gives such a connection to two transactions at once from then on.
     *
     * @throws TwinboxException if the server allows no work in the transaction any more
     */
    <T> T inCallersTransaction(Work<T> work) throws SQLException {
        Answer<T> answer = new Answer<>(() -> onConnection(work));
        try {
            callersTransaction.accept(answer);
        } catch (RuntimeException e) {
            throw new TwinboxException(
                    "The server does not let locks join the transaction here (" + e
                            + "): call fence() and tryLockInTransaction() in a business method, before the transaction "
                            + "completes",
                    e);
        }
        return answer.get();
    }

    /** What the work has returned or thrown. A container would wrap what is thrown. */
    private static final class Answer<T> implements Runnable {
        private final NewTransactionCall.Work<T> work;
        private @Nullable T result;
        private @Nullable SQLException failed;
        private @Nullable RuntimeException thrown;

        Answer(NewTransactionCall.Work<T> work) {
            this.work = work;
        }

        @Override
        public void run() {
            try {
                result = work.run();
            } catch (SQLException e) {
                failed = e;
            } catch (RuntimeException e) {
                thrown = e;
            }
        }

        T get() throws SQLException {
            if (failed != null) {
                throw failed;
            }
            if (thrown != null) {
                throw thrown;
            }
            T value = result;
            if (value == null) {
                throw new IllegalStateException("the server has not run the work");
            }
            return value;
        }
    }

    private <T> T onConnection(Work<T> work) throws SQLException {
        try (Connection connection = dataSource().getConnection()) {
            return work.run(connection);
        }
    }

    /**
     * Refuses a caller without an active transaction.
     *
     * @param what the method that needs it, for the message
     */
    void requireTransaction(String what) {
        int status = registry.getTransactionStatus(); // never getRollbackOnly(): it is false on WildFly after a timeout
        if (status != Status.STATUS_ACTIVE) {
            String message = what + " needs an active JTA transaction, but "
                    + (status == Status.STATUS_NO_TRANSACTION
                            ? "there is none"
                            : "its status is " + status + " (jakarta.transaction.Status)")
                    + ": make the calling method transactional (a session bean's default, or @Transactional)";
            throw new TransactionalException(message, new TransactionRequiredException(message));
        }
    }

    /** The key of the caller's transaction. */
    Object transactionKey() {
        return registry.getTransactionKey();
    }

    /** Calls back when the caller's transaction has ended, however it ends. */
    void afterCompletion(Runnable callback) {
        registry.registerInterposedSynchronization(new Synchronization() {
            @Override
            public void beforeCompletion() {
                // Only the end counts.
            }

            @Override
            public void afterCompletion(int status) {
                callback.run();
            }
        });
    }

    /** Lets the caller's transaction end by a rollback. It may have ended already, by its timeout for example. */
    void rollBack() {
        try {
            registry.setRollbackOnly();
        } catch (IllegalStateException e) {
            LOG.log(Level.DEBUG, () -> "The transaction has ended already: " + e);
        }
    }

    /** @throws InvalidConfigurationException if there is no such data source */
    DataSource dataSource() {
        DataSource found = dataSource;
        if (found == null) {
            found = lookUp(name);
            dataSource = found;
        }
        return found;
    }

    @SuppressWarnings("BanJNDI") // the name is the deployer's, as in any @Resource(lookup = …)
    private static DataSource lookUp(String name) {
        try {
            return InitialContext.doLookup(name);
        } catch (NamingException | ClassCastException e) {
            throw new InvalidConfigurationException(
                    "Configuration of the locks",
                    List.of(LockSettings.DATA_SOURCE.key() + " is \"" + name
                            + "\", but JNDI has no data source of this name; define it on the server or by "
                            + "@DataSourceDefinition: " + e.getMessage()));
        }
    }
}
