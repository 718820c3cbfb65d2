package dev.twinbox.inbox.app;

import dev.twinbox.RetryLaterException;
import jakarta.annotation.Resource;
import jakarta.ejb.ApplicationException;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/** What all handlers of the tests do: store the call, write an effect, then run the event's action. */
@ApplicationScoped
public class Script {

    /** By the EJB rules it would commit. The receiver must roll back all the same. */
    @ApplicationException(rollback = false)
    public static final class BusinessException extends RuntimeException {
        private static final long serialVersionUID = 1;

        BusinessException() {
            super("business says no");
        }
    }

    /** An event that no further try can help. */
    public static class InvalidException extends RuntimeException {
        private static final long serialVersionUID = 1;

        InvalidException(String message) {
            super(message);
        }
    }

    /** A subclass of what a handler names. */
    public static final class UnknownCustomerException extends InvalidException {
        private static final long serialVersionUID = 1;

        public UnknownCustomerException() {
            super("unknown customer");
        }
    }

    private static final AtomicInteger RUNNING = new AtomicInteger();

    private static volatile boolean released;

    @Resource(lookup = "java:app/jdbc/inbox")
    private DataSource dataSource;

    @Inject
    @ConfigProperty(name = "test.jdbc.url")
    private String url;

    @Inject
    @ConfigProperty(name = "test.instance")
    private String instance;

    /** How many calls are in progress in this application. */
    public static int running() {
        return RUNNING.get();
    }

    public void play(String handler, Order order) throws Exception {
        RUNNING.incrementAndGet();
        try {
            int calls = noteCall(handler, order.id());
            writeEffect(handler, order.id());
            if (calls <= order.times()) {
                act(order.action());
            }
        } finally {
            RUNNING.decrementAndGet();
        }
    }

    /** Stores a call on a connection of its own, so that a rollback does not remove it. Returns the number of calls. */
    public int noteCall(String handler, String id) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                PreparedStatement statement = connection.prepareStatement("""
                        with noted as (insert into call (handler, event_id, instance) values (?, ?, ?))
                        select count(*) + 1 from call where handler = ? and event_id = ?""")) {
            statement.setString(1, handler);
            statement.setString(2, id);
            statement.setString(3, instance);
            statement.setString(4, handler);
            statement.setString(5, id);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getInt(1);
            }
        }
    }

    /** Writes the effect in the handler's transaction. */
    public void writeEffect(String handler, String id) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement statement =
                        connection.prepareStatement("insert into effect (handler, event_id) values (?, ?)")) {
            statement.setString(1, handler);
            statement.setString(2, id);
            statement.executeUpdate();
        }
    }

    private void act(String action) throws Exception {
        String[] words = action.split(":");
        switch (words[0]) {
            case "" -> {}
            case "checked" -> throw new java.io.IOException("checked");
            case "error" -> throw new AssertionError("error");
            case "runtime" -> throw new IllegalStateException("runtime");
            case "business" -> throw new BusinessException();
            case "unknown-customer" -> throw new UnknownCustomerException();
            case "service" -> callService();
            case "later" -> throw new RetryLaterException(Duration.parse(words[1]), "not yet");
            case "gate" -> passGate(Integer.parseInt(words[1]));
            case "gate-then-throw" -> {
                passGate(Integer.parseInt(words[1]));
                throw new IllegalStateException("after the gate");
            }
            case "long" -> throw new IllegalStateException("x".repeat(100_000));
            case "dirty" -> throw new IllegalStateException("a\0b\ud83dc");
            case "null" -> throw new IllegalStateException((String) null);
            case "cycle" -> throw cycle();
            case "hostile" -> throw new Hostile();
            case "interrupt" -> restoreInterrupt();
            case "wait" -> new CountDownLatch(1).await();
            case "hang" -> hang();
            case "halt" -> Runtime.getRuntime().halt(9);
            case "repair" -> execute("select 1 / count(*) from repaired");
            case "sql" -> execute(words[1]);
            case "state" -> throw new SQLException("another database failed", words[1]);
            default -> throw new IllegalArgumentException(action);
        }
    }

    /** What a handler does in whose library an {@code InterruptedException} was caught. */
    private static void restoreInterrupt() throws InterruptedException {
        Thread.currentThread().interrupt();
        throw new InterruptedException("restored");
    }

    /** Ignores all interrupts until the test ends it. */
    private static void hang() {
        while (!released) {
            LockSupport.parkNanos(10_000_000);
            Thread.interrupted();
        }
    }

    /** Ends all calls that hang. */
    static void release() {
        released = true;
    }

    private static Exception cycle() {
        Exception first = new Exception("first");
        first.initCause(new Exception("second", first));
        return first;
    }

    /** An exception whose own code fails. */
    private static final class Hostile extends RuntimeException {
        private static final long serialVersionUID = 1;

        @Override
        public String getMessage() {
            throw new StackOverflowError();
        }
    }

    /** A service that a handler needs is away. */
    public static final class ServiceAwayException extends Exception {
        private static final long serialVersionUID = 1;

        ServiceAwayException() {
            super("service is away");
        }
    }

    /** Works when the test has repaired it. */
    private void callService() throws SQLException, ServiceAwayException {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement statement = connection.prepareStatement("select count(*) from repaired");
                ResultSet row = statement.executeQuery()) {
            row.next();
            if (row.getInt(1) == 0) {
                throw new ServiceAwayException();
            }
        }
    }

    /** Waits until the test, which holds the lock, opens the gate. */
    private void passGate(int number) throws SQLException {
        execute("select pg_advisory_xact_lock_shared(" + number + ")");
    }

    public void execute(String sql) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.execute();
        }
    }
}
