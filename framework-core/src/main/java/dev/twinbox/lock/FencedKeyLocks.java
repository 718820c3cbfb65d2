package dev.twinbox.lock;

import dev.twinbox.InvalidConfigurationException;
import dev.twinbox.KeyLock;
import dev.twinbox.KeyLocks;
import dev.twinbox.SchemaException;
import dev.twinbox.TwinboxException;
import dev.twinbox.jdbc.SqlState;
import dev.twinbox.lock.QuickLeases.AwayException;
import dev.twinbox.thread.ContextClassLoader;
import jakarta.annotation.PostConstruct;
import jakarta.annotation.PreDestroy;
import jakarta.annotation.Resource;
import jakarta.ejb.EJB;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.transaction.TransactionSynchronizationRegistry;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Executor;
import javax.naming.InitialContext;
import javax.naming.NamingException;
import org.eclipse.microprofile.config.Config;
import org.eclipse.microprofile.config.ConfigProvider;
import org.jspecify.annotations.Nullable;

/** The locks of the application. */
@ApplicationScoped
class FencedKeyLocks implements KeyLocks {

    private static final Logger LOG = System.getLogger(FencedKeyLocks.class.getName());

    /** Lease of the question that is asked at the start. */
    private static final Duration START = Duration.ofSeconds(10);

    @Resource(lookup = "java:comp/TransactionSynchronizationRegistry")
    TransactionSynchronizationRegistry registry;

    @EJB
    LockTransaction transaction;

    private LockConfiguration configuration;
    private LockDatabase database;
    private FenceTable fences;
    private LockGrants grants;
    private @Nullable QuickLeases leases;

    /** Null until the tables were found. Written by any thread, never taken back. */
    private volatile @Nullable String table;

    @PostConstruct
    void configure() {
        Config config = ContextClassLoader.call(FencedKeyLocks.class, ConfigProvider::getConfig);
        configuration = LockSettings.read(config);
        database = new LockDatabase(configuration.dataSource(), registry, transaction::run);
        fences = new FenceTable(configuration.tables());
        LockConfiguration.Redis redis = configuration.redis();
        leases = redis == null ? null : new RedisLeases(redis, () -> "twinbox:" + table + ':');
        grants = new LockGrants(new FencedLock.Store(database, fences, leases, managedThreads()));
    }

    /** Looked up, so that an application without locks needs no Jakarta Concurrency. */
    @SuppressWarnings("BanJNDI") // a name of the platform
    private static Executor managedThreads() {
        try {
            return InitialContext.doLookup("java:comp/DefaultManagedExecutorService");
        } catch (NamingException | ClassCastException e) {
            throw new InvalidConfigurationException(
                    "Start of the locks",
                    List.of("this server has no managed threads, which locks need (" + e.getMessage()
                            + "): add Jakarta Concurrency to the server"));
        }
    }

    /** Checks the database now, not only with the first lock. An outage is no mistake. */
    void start() {
        try {
            check();
            LOG.log(Level.INFO, () -> "Locks started: " + configuration);
            askLeases();
        } catch (SQLException e) {
            LOG.log(
                    Level.WARNING,
                    () -> "The locks' database cannot be reached (data source " + configuration.dataSource() + "): "
                            + e.getMessage() + ". The application starts; nobody gets a lock until the database works");
        }
    }

    /** A store that is away, or refuses one of our questions, is reported by the store itself. */
    private void askLeases() {
        QuickLeases asked = leases;
        if (asked == null) {
            return;
        }
        String owner = UUID.randomUUID().toString();
        try {
            boolean isKept = asked.take("start " + owner, owner, START) && asked.extend("start " + owner, owner, START);
            asked.release("start " + owner, owner);
            LOG.log(Level.DEBUG, () -> "The store of leases keeps what it is asked for: " + isKept);
        } catch (AwayException e) {
            LOG.log(Level.DEBUG, () -> "Leases are in the database for now: " + e);
        }
    }

    @PreDestroy
    void stop() {
        QuickLeases open = leases;
        if (open != null) {
            open.close();
        }
    }

    @Override
    public Optional<KeyLock> tryLock(String key, Duration lease) {
        LockRules.checkKey(key);
        LockRules.checkLease(lease);
        try {
            if (table == null) {
                check();
            }
            return grants.grant(key, lease);
        } catch (SQLException e) {
            throw failure(key, e);
        }
    }

    @Override
    public boolean tryLockInTransaction(String key) {
        LockRules.checkKey(key);
        database.requireTransaction("KeyLocks.tryLockInTransaction");
        try {
            return database.inCallersTransaction(connection -> fences.lockInTransaction(connection, key));
        } catch (SQLException e) {
            throw failure(key, e);
        }
    }

    private TwinboxException failure(String key, SQLException cause) {
        return new TwinboxException(
                "The lock of \"" + key + "\" cannot be taken (data source " + configuration.dataSource() + "): "
                        + cause.getMessage() + ". To get it, " + LockFailures.remedy(cause) + ", then try again",
                cause);
    }

    private void check() throws SQLException {
        try {
            List<String> problems = database.inNewTransaction(this::problems);
            if (!problems.isEmpty()) {
                throw new SchemaException("The locks cannot be used (data source " + configuration.dataSource() + "): "
                        + String.join("; ", problems)
                        + ". Create or update the tables as their owner: java -jar twinbox-relay.jar migrate for an"
                        + " outbox, java -jar twinbox-inbox-cli.jar migrate for an inbox");
            }
        } catch (SQLException e) {
            if (SqlState.isOutage(e)) {
                throw e;
            }
            throw new SchemaException(
                    "The locks' database refuses the application (data source " + configuration.dataSource() + "): "
                            + e.getMessage() + ". Check the data source's URL, user and password",
                    e);
        }
    }

    private List<String> problems(Connection connection) throws SQLException {
        List<String> problems = configuration.tables().problems(connection);
        if (!problems.isEmpty()) {
            return problems;
        }
        String transactionOfFirst = fences.transaction(connection);
        // The second one is what fence() gets in a transaction that has used a connection before.
        String transactionOfSecond = database.inCallersTransaction(fences::transaction);
        if (!transactionOfFirst.equals(transactionOfSecond)) {
            throw new InvalidConfigurationException(
                    "Configuration of the locks",
                    List.of(LockSettings.DATA_SOURCE.key() + " is \"" + configuration.dataSource()
                            + "\", but two connections of one JTA transaction are not in one transaction of the"
                            + " database; define it as a JTA data source whose connections are shared within a"
                            + " transaction"));
        }
        table = fences.name(connection);
        return problems;
    }
}
