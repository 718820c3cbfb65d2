package dev.twinbox.proof.soak;

import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.proof.landscape.Landscape;
import dev.twinbox.proof.soak.Fault.Kind;
import dev.twinbox.proof.soak.Fault.Target;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * The roles of relay, orders service and shipping service, each with the rights that the documentation gives it. Faults
 * take rights on a table away, or hide its rows from the role by a policy, and undo it.
 *
 * <p>Other faults end the server meanwhile. So each step is repeated until the database has answered.
 */
final class Roles {

    static final String RELAY = "soak_relay";
    static final String ORDERS = "soak_orders";
    static final String SHIPPING = "soak_shipping";

    private static final String INSUFFICIENT_PRIVILEGE = "42501";
    private static final long PAUSE_NANOS = 500_000_000;

    private final PostgresServer postgres;
    private final Grants grants;
    private final AtomicInteger checked = new AtomicInteger();
    private volatile boolean isBroken;
    private volatile long undoneAt = System.nanoTime();

    Roles(PostgresServer postgres, Grants grants) {
        this.postgres = postgres;
        this.grants = grants;
    }

    /** Creates the roles that use the outbox, once its tables are there. */
    void createOfOutbox() throws SQLException {
        List<String> statements = new ArrayList<>(List.of(create(RELAY), create(ORDERS)));
        // The service creates its own tables, and owns them.
        statements.add("grant create on schema public to " + ORDERS);
        statements.addAll(grants.outbox());
        execute(Landscape.ORDERS_DATABASE, statements);
    }

    /** Creates the role that uses the inbox, once its tables are there. */
    void createOfInbox() throws SQLException {
        List<String> statements = new ArrayList<>(List.of(create(SHIPPING)));
        statements.add("grant create on schema public to " + SHIPPING);
        statements.addAll(grants.inbox());
        execute(Landscape.SHIPPING_DATABASE, statements);
    }

    /** All passwords are that of the server's user: processes take it from the landscape. */
    private String create(String role) {
        return "create role " + role + " login password '" + postgres.password() + "'";
    }

    /** Returns when the role cannot read the table any more. */
    void breakFor(Fault fault) {
        isBroken = true;
        String table = table(fault.target());
        String role = role(fault.target());
        repeat(fault, () -> {
            execute(
                    database(fault.target()),
                    fault.kind() == Kind.REVOKE
                            ? List.of("revoke all on " + table + " from " + role)
                            : List.of(
                                    "drop policy if exists soak on " + table,
                                    "create policy soak on " + table + " using (current_user <> '" + role + "')",
                                    "alter table " + table + " enable row level security"));
            if (mayRead(fault.target())) {
                throw new IllegalStateException(role + " may read " + table + " despite " + fault);
            }
        });
        checked.incrementAndGet();
    }

    /** Returns when the role can read the table again. */
    void undo(Fault fault) {
        String table = table(fault.target());
        String role = role(fault.target());
        repeat(fault, () -> {
            execute(
                    database(fault.target()),
                    fault.kind() == Kind.REVOKE
                            ? grants.of(table, role)
                            : List.of(
                                    "alter table " + table + " disable row level security",
                                    "drop policy if exists soak on " + table));
            if (!mayRead(fault.target())) {
                throw new IllegalStateException(role + " may not read " + table + " after the end of " + fault);
            }
        });
        undoneAt = System.nanoTime();
        isBroken = false;
    }

    /** Whether a process that was started at this time may have been refused because of its role. */
    boolean wereBrokenSince(long nanoTime) {
        return isBroken || undoneAt - nanoTime > 0;
    }

    /** How many faults the database has shown to be there. */
    int checked() {
        return checked.get();
    }

    private boolean mayRead(Target target) throws SQLException {
        try (Connection connection = DriverManager.getConnection(
                        postgres.jdbcUrl(database(target)), role(target), postgres.password());
                Statement statement = connection.createStatement()) {
            // Hidden rows are an error, not an empty result.
            statement.execute("set row_security = off");
            statement.execute("-- soak: may the role read\nselect from " + table(target) + " limit 1");
            return true;
        } catch (SQLException e) {
            if (INSUFFICIENT_PRIVILEGE.equals(e.getSQLState())) {
                return false;
            }
            throw e;
        }
    }

    /** All statements or none. */
    private void execute(String database, List<String> statements) throws SQLException {
        try (Connection connection = postgres.connect(database);
                Statement statement = connection.createStatement()) {
            statement.execute(String.join(";", statements));
        }
    }

    private static void repeat(Fault fault, Step step) {
        long deadline = System.nanoTime() + SoakLandscape.BACK_LIMIT.toNanos();
        while (true) {
            try {
                step.run();
                return;
            } catch (SQLException e) {
                if (System.nanoTime() > deadline) {
                    throw new IllegalStateException(
                            "PostgreSQL did not answer within " + SoakLandscape.BACK_LIMIT + " for " + fault, e);
                }
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
    }

    private static boolean isOfOutbox(Target target) {
        return target.name().startsWith("OUTBOX");
    }

    private static String table(Target target) {
        return target.name().toLowerCase(Locale.ROOT);
    }

    private static String role(Target target) {
        return isOfOutbox(target) ? RELAY : SHIPPING;
    }

    private static String database(Target target) {
        return isOfOutbox(target) ? Landscape.ORDERS_DATABASE : Landscape.SHIPPING_DATABASE;
    }

    private interface Step {
        void run() throws SQLException;
    }
}
