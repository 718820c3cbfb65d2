package dev.twinbox.it;

import dev.twinbox.KeyLock;
import dev.twinbox.KeyLocks;
import jakarta.annotation.Resource;
import jakarta.ejb.Stateless;
import jakarta.enterprise.event.Event;
import jakarta.inject.Inject;
import jakarta.transaction.TransactionSynchronizationRegistry;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import javax.sql.DataSource;

/** What a hunter does in transactions. */
@Stateless
public class HuntMBean {

    @Resource(lookup = "java:app/jdbc/locks")
    DataSource dataSource;

    @Resource(lookup = "java:app/jdbc/other")
    DataSource other;

    @Resource(lookup = "java:comp/TransactionSynchronizationRegistry")
    TransactionSynchronizationRegistry registry;

    @Inject
    KeyLocks locks;

    @Inject
    HuntMInner inner;

    @Inject
    Event<HuntMObserver.Ended> ended;

    public String fence(KeyLock lock) {
        lock.fence();
        return "fenced";
    }

    public String fenceAndHold(KeyLock lock, CountDownLatch fenced, long millis) throws InterruptedException {
        lock.fence();
        fenced.countDown();
        Thread.sleep(millis);
        return "held";
    }

    public void fenceAndClose(KeyLock lock) {
        lock.fence();
        lock.close();
    }

    public void fenceAndExtend(KeyLock lock) {
        lock.fence();
        lock.extend(Duration.ofMinutes(10));
    }

    public String scoped(String key) {
        return Boolean.toString(inner.take(key));
    }

    public void end(String key) {
        ended.fire(new HuntMObserver.Ended(key));
    }

    /** An effect here, one in another database, and the fence between the two. */
    public String two(KeyLock lock, String holder) throws SQLException {
        run(other, "insert into effect values ('" + holder + "')");
        lock.fence();
        run(dataSource, "insert into locked_effect (key, token) values ('" + holder + "', " + lock.token() + ")");
        return "both";
    }

    private static void run(DataSource source, String sql) throws SQLException {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    public String markedForRollback(String key) {
        registry.setRollbackOnly();
        String own = locks.tryLock(key, Duration.ofMinutes(10)).isPresent() ? "granted" : "empty";
        try {
            return own + ", in the transaction " + locks.tryLockInTransaction(key);
        } catch (RuntimeException e) {
            return own + ", in the transaction " + e;
        }
    }
}
