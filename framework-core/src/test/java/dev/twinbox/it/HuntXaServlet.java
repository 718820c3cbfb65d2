package dev.twinbox.it;

import dev.twinbox.KeyLock;
import dev.twinbox.KeyLocks;
import jakarta.annotation.Resource;
import jakarta.inject.Inject;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.transaction.UserTransaction;
import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;

/** Takes a lock, and writes into two databases under it, or in a transaction that times out. */
@WebServlet("/hunt")
public class HuntXaServlet extends HttpServlet {

    private static final long serialVersionUID = 1;

    @Inject
    KeyLocks locks;

    @Inject
    TwoEffects two;

    @Resource
    UserTransaction transaction;

    @Resource(lookup = "java:app/jdbc/locks")
    DataSource dataSource;

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        String key = request.getParameter("key");
        String way = String.valueOf(request.getParameter("do"));
        String answer;
        Optional<KeyLock> lock = locks.tryLock(
                key, way.equals("late-close") ? Duration.ofMinutes(10) : Duration.ofMillis(1));
        if (lock.isEmpty()) {
            answer = "empty";
        } else {
            try {
                answer = switch (way) {
                    case "late" -> late(key, lock.get(), false);
                    case "late-close" -> {
                        String said = late(key, lock.get(), false);
                        lock.get().close();
                        yield said;
                    }
                    case "late-kept" -> late(key, lock.get(), true);
                    default -> {
                        two.write(key, lock.get());
                        yield "done";
                    }
                };
            } catch (Exception e) {
                answer = "failed: " + e + " " + e.getCause();
            }
        }
        response.getWriter().println(answer.replace('\n', ' '));
    }

    /** Writes after the transaction has timed out, by a new connection or by one that was kept open. */
    private String late(String key, KeyLock lock, boolean isKept) throws Exception {
        StringBuilder said = new StringBuilder();
        transaction.setTransactionTimeout(2);
        transaction.begin();
        transaction.setTransactionTimeout(0);
        try (Connection kept = dataSource.getConnection()) {
            lock.fence();
            LockSupport.parkNanos(Duration.ofSeconds(25).toNanos());
            said.append("status ").append(transaction.getStatus());
            try {
                said.append(", granted meanwhile ")
                        .append(locks.tryLock(key, Duration.ofMinutes(10)).isPresent());
            } catch (RuntimeException e) {
                said.append(", no grant ").append(e);
            }
            try {
                if (isKept) {
                    insert(kept, key, lock.token());
                } else {
                    try (Connection fresh = dataSource.getConnection()) {
                        insert(fresh, key, lock.token());
                    }
                }
                said.append(", written");
            } catch (SQLException | RuntimeException e) {
                said.append(", not written ").append(e);
            }
        } catch (SQLException e) {
            said.append(", closing ").append(e);
        }
        try {
            transaction.commit();
            said.append(", committed");
        } catch (Exception e) {
            said.append(", not committed ").append(e.getClass());
            if (transaction.getStatus() != jakarta.transaction.Status.STATUS_NO_TRANSACTION) {
                transaction.rollback();
            }
        }
        return said.toString();
    }

    private static void insert(Connection connection, String key, long token) throws SQLException {
        try (PreparedStatement insert =
                connection.prepareStatement("insert into locked_effect (key, token) values (?, ?)")) {
            insert.setString(1, key);
            insert.setLong(2, token);
            insert.executeUpdate();
        }
    }
}
