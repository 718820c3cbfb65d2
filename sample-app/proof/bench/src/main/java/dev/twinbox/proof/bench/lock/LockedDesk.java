package dev.twinbox.proof.bench.lock;

import dev.twinbox.KeyLock;
import dev.twinbox.KeyLocks;
import jakarta.annotation.Resource;
import jakarta.ejb.Stateless;
import jakarta.inject.Inject;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.UUID;
import javax.sql.DataSource;

/** The same small transaction without any means against a second one, and with each of them. */
@Stateless
public class LockedDesk {

    private static final String WRITE = "update buyer set turnover = turnover + 1 where id = ?";
    private static final String INSERT_PAYMENT = "insert into payment (number) values (?) on conflict do nothing";
    private static final String INSERT_INBOX = """
            insert into inbox_event (consumer_group, handler, event_id, event_source)
            values ('bench-locks', 'desk', ?, 0) on conflict do nothing""";
    private static final String ADD_TASKS = "insert into task (buyer_id) select i % 1000 from generate_series(1, ?) i";
    private static final String TAKE_TASK = """
            delete from task where id = (select id from task order by id limit 1 for update skip locked)""";

    @Resource(lookup = "java:app/jdbc/bench")
    private DataSource dataSource;

    @Inject
    private KeyLocks locks;

    public void write(long buyer) {
        update(WRITE, statement -> statement.setLong(1, buyer));
    }

    public void writeWithUniqueKey(long buyer, long payment) {
        require(update(INSERT_PAYMENT, statement -> statement.setLong(1, payment)));
        write(buyer);
    }

    public void writeWithInboxRow(long buyer) {
        String id = UUID.randomUUID().toString();
        require(update(INSERT_INBOX, statement -> statement.setString(1, id)));
        write(buyer);
    }

    public void addTasks(int number) {
        update(ADD_TASKS, statement -> statement.setInt(1, number));
    }

    public void writeForTask(long buyer) {
        require(update(TAKE_TASK, statement -> {}));
        write(buyer);
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

    /** Sets the parameters of a statement. */
    private interface Parameters {
        void set(PreparedStatement statement) throws SQLException;
    }

    private int update(String sql, Parameters parameters) {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement statement = connection.prepareStatement(sql)) {
            parameters.set(statement);
            return statement.executeUpdate();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void require(int rows) {
        if (rows != 1) {
            throw new IllegalStateException(rows + " rows, not one: nobody else is at work");
        }
    }
}
