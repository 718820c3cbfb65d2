package dev.twinbox.lock;

import dev.twinbox.InvalidConfigurationException;
import dev.twinbox.KeyLock;
import dev.twinbox.KeyLocks;
import dev.twinbox.TwinboxException;
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
    private Executor threads;
    private @Nullable QuickLeases leases;

    /** Null until the tables were found. Written by any thread, never taken back. */
    private volatile @Nullable Ready ready;

    /** What works on the tables that were found, and the name of the table. */
    private record Ready(FenceTable fences, LockGrants grants, String table) {}

    @PostConstruct
    void configure() {
        Config config = ContextClassLoader.call(FencedKeyLocks.class, ConfigProvider::getConfig);
        configuration = LockSettings.read(config);
        database = new LockDatabase(configuration.dataSource(), registry, transaction::run, transaction::runInCallers);
        threads = managedThreads();
        LockConfiguration.Redis redis = configuration.redis();
        leases = redis == null ? null : new RedisLeases(redis, this::prefix, threads);
    }

    /** Of the keys in Redis. */
    private String prefix() {
        Ready known = ready;
        return "twinbox:" + (known == null ? null : known.table()) + ':';
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
            ready();
            LOG.log(Level.INFO, () -> "Locks started: " + configuration);
            PoolerCheck.run(database.dataSource(), configuration.dataSource());
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
            return ready().grants().grant(key, lease);
        } catch (SQLException e) {
            throw failure(key, e);
        }
    }

    @Override
    public boolean tryLockInTransaction(String key) {
        LockRules.checkKey(key);
        database.requireTransaction("KeyLocks.tryLockInTransaction");
        try {
            FenceTable fences = ready().fences();
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

    /** Checks the database first, if nobody has succeeded with it yet. */
    private Ready ready() throws SQLException {
        Ready known = ready;
        if (known == null) {
            LockCheck.Found found = new LockCheck(configuration, database).find();
            FenceTable fences = new FenceTable(found.tables());
            LockGrants grants = new LockGrants(new FencedLock.Store(database, fences, leases, threads));
            known = new Ready(fences, grants, found.name());
            ready = known;
        }
        return known;
    }
}
