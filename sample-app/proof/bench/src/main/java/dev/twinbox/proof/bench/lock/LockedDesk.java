package dev.twinbox.proof.bench.lock;

import dev.twinbox.KeyLock;
import dev.twinbox.KeyLocks;
import jakarta.annotation.Resource;
import jakarta.ejb.Stateless;
import jakarta.inject.Inject;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import javax.sql.DataSource;

/** The same small transaction without a lock, with a fence, and with a lock of its own. */
@Stateless
public class LockedDesk {

    private static final String WRITE = "update buyer set turnover = turnover + 1 where id = ?";

    @Resource(lookup = "java:app/jdbc/bench")
    private DataSource dataSource;

    @Inject
    private KeyLocks locks;

    public void write(long buyer) {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement write = connection.prepareStatement(WRITE)) {
            write.setLong(1, buyer);
            write.executeUpdate();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    public void writeFenced(long buyer, KeyLock lock) {
        lock.fence();
        write(buyer);
    }

    public void writeLockedInTransaction(long buyer) {
        if (!locks.tryLockInTransaction("buyer " + buyer)) {
            throw new IllegalStateException("nobody else asks for this key");
        }
        write(buyer);
    }
}
