package dev.twinbox.it;

import dev.twinbox.KeyLock;
import dev.twinbox.KeyLocks;
import jakarta.annotation.Resource;
import jakarta.ejb.EJBContext;
import jakarta.ejb.Stateless;
import jakarta.inject.Inject;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;

/** Writes under a lock, in an EJB's transaction. */
@Stateless
public class LockedEffects {

    @Resource(lookup = "java:app/jdbc/locks")
    DataSource dataSource;

    @Resource
    EJBContext context;

    @Inject
    KeyLocks locks;

    public void write(String key, KeyLock lock) throws SQLException {
        lock.fence();
        insert(key, lock.token());
    }

    /** What is done in place of a fence where nothing fences. */
    public void writeWithoutFence(String key, KeyLock lock) throws SQLException {
        insert(key, lock.token());
    }

    public void writeAndClose(String key, KeyLock lock) throws SQLException {
        write(key, lock);
        lock.close();
    }

    public void writeAndExtend(String key, KeyLock lock) throws SQLException {
        write(key, lock);
        if (!lock.extend(java.time.Duration.ofMinutes(10))) {
            throw new IllegalStateException("not extended");
        }
    }

    public void writeCloseAndRollBack(String key, KeyLock lock) throws SQLException {
        writeAndClose(key, lock);
        context.setRollbackOnly();
    }

    /** Whether this transaction got the lock, and whether another one gets it meanwhile. */
    public String lockInTransaction(String key, LockedWork other) {
        return locks.tryLockInTransaction(key) + " " + other.isFreeInTransaction(key);
    }

    /** Takes a lock and rolls back: the grant has a transaction of its own. */
    public KeyLock takeAndRollBack(String key) {
        context.setRollbackOnly();
        return locks.tryLock(key, java.time.Duration.ofMinutes(1)).orElseThrow();
    }

    /** Counts as one who is alone would: reads, works, writes what it has read plus one. Two at once would lose one. */
    public void count(String key, KeyLock lock, long workMillis) throws SQLException {
        lock.fence();
        countWithoutFence(key, workMillis);
        insert(key, lock.token());
    }

    /** As {@link #count}, for a lock that has no fence. */
    public void countWithoutFence(String key, long workMillis) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            long before;
            try (PreparedStatement read =
                    connection.prepareStatement("select n, clock_timestamp() from counted where key = ?")) {
                read.setString(1, key);
                try (ResultSet row = read.executeQuery()) {
                    row.next();
                    before = row.getLong(1);
                }
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(workMillis));
            try (PreparedStatement write = connection.prepareStatement("update counted set n = ? where key = ?")) {
                write.setLong(1, before + 1);
                write.setString(2, key);
                write.executeUpdate();
            }
        }
    }

    private void insert(String key, long token) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement insert =
                        connection.prepareStatement("insert into locked_effect (key, token) values (?, ?)")) {
            insert.setString(1, key);
            insert.setLong(2, token);
            insert.executeUpdate();
        }
    }
}
