package dev.twinbox.outbox;

import dev.twinbox.InvalidConfigurationException;
import jakarta.transaction.Synchronization;
import jakarta.transaction.TransactionSynchronizationRegistry;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Finds out on which way a statement in {@code beforeCompletion} is in the transaction that commits. Servers differ, and
 * none reports it: on Payara and GlassFish a plain connection is in auto-commit there, and Open Liberty refuses to call
 * an EJB. Guessing by the server's name would be wrong with its next version.
 *
 * <p>A trial marks its transaction by a setting that PostgreSQL drops at the end of the transaction, and looks for the
 * mark in {@code beforeCompletion}. That uses no transaction id, and works in a database that can only be read.
 */
final class SelfTest {

    private static final String SUBJECT = "Configuration of the outbox";

    private static final String MARK = """
            -- outbox: mark the transaction of a self-test
            select set_config('twinbox.self_test', ?, true)""";

    private static final String LOOK = """
            -- outbox: look for the mark of a self-test
            select current_setting('twinbox.self_test', true)""";

    /** Begins a transaction, runs the work and commits. */
    interface Begin extends Consumer<Runnable> {}

    private final TransactionSynchronizationRegistry registry;
    private final DataSource dataSource;
    private final String dataSourceName;
    private final List<Begin> begins;
    private final Consumer<Runnable> ejb;

    /**
     * Tries nothing yet.
     *
     * @param begins the kinds of transactions that the chosen way must work in
     * @param ejb calls an EJB that runs the work
     */
    SelfTest(
            TransactionSynchronizationRegistry registry,
            DataSource dataSource,
            String dataSourceName,
            List<Begin> begins,
            Consumer<Runnable> ejb) {
        this.registry = registry;
        this.dataSource = dataSource;
        this.dataSourceName = dataSourceName;
        this.begins = begins;
        this.ejb = ejb;
    }

    /**
     * Tries the ways. The result holds as long as the application runs.
     *
     * <p>The direct way is tried only where the EJB does not do. On Payara such a connection is harmful, even if it only
     * reads: the pool takes it back twice, and gives it to two transactions at once from then on.
     *
     * @throws InvalidConfigurationException if no way works with this data source on this server
     * @throws SQLException if there is no result, because the database or the server failed
     */
    ChosenWay choose() throws SQLException {
        Trial byEjb = worst(WriteWay.THROUGH_EJB);
        if (byEjb.isInTransaction()) {
            return new ChosenWay(WriteWay.THROUGH_EJB, "an EJB that is called before the commit is in the transaction");
        }
        Trial direct = worst(WriteWay.DIRECTLY);
        if (direct.isInTransaction()) {
            return new ChosenWay(WriteWay.DIRECTLY, byEjb.finding());
        }
        if (direct.failure != null) {
            throw new SQLException("the self-test of transactions failed: " + direct.failure, direct.failure);
        }
        throw new InvalidConfigurationException(
                SUBJECT,
                List.of(OutboxSettings.DATA_SOURCE.key() + " is \"" + dataSourceName
                        + "\", but this server has no way to write in a transaction that is about to commit;"
                        + " report it with the server's name and version, and use another server"));
    }

    /** One trial for each kind of transaction: the first that is not in the transaction, or else the last. */
    private Trial worst(WriteWay way) throws SQLException {
        @Nullable Trial trial = null;
        for (Begin begin : begins) {
            trial = new Trial(way);
            trial.perform(begin);
            if (!trial.isInTransaction()) {
                break;
            }
        }
        if (trial == null) {
            throw new IllegalStateException("no kind of transaction to try");
        }
        return trial;
    }

    private String look() throws SQLException {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement statement = connection.prepareStatement(LOOK);
                ResultSet row = statement.executeQuery()) {
            row.next();
            String found = row.getString(1);
            return found == null ? "" : found;
        }
    }

    /** One transaction, in which one way is tried. */
    private final class Trial implements Runnable {

        private final WriteWay way;
        private final String mark = UUID.randomUUID().toString();
        private boolean isJta;
        private @Nullable String found;
        private @Nullable Exception failure;

        Trial(WriteWay way) {
            this.way = way;
        }

        boolean isInTransaction() {
            return mark.equals(found);
        }

        /** Why this way is not chosen. */
        String finding() {
            return failure == null
                    ? "an EJB that is called before the commit is outside of the transaction"
                    : "an EJB cannot be called before the commit: " + failure;
        }

        void perform(Begin begin) throws SQLException {
            try {
                begin.accept(this);
            } catch (RuntimeException e) {
                note(e);
            }
            if (!isJta && failure != null) {
                throw new SQLException("the self-test of transactions failed: " + failure, failure);
            }
            if (!isJta) {
                throw new InvalidConfigurationException(
                        SUBJECT,
                        List.of(OutboxSettings.DATA_SOURCE.key() + " is \"" + dataSourceName
                                + "\", but two connections of one JTA transaction are not in one transaction of the"
                                + " database; define it as a JTA data source whose connections are shared within a"
                                + " transaction"));
            }
        }

        private void note(Exception e) {
            if (failure == null) {
                failure = e;
            }
        }

        @Override
        public void run() {
            try {
                mark();
                isJta = mark.equals(look());
                beforeCompletion(() -> beforeCompletion(this::lookOnTheWay));
            } catch (SQLException | RuntimeException e) {
                note(e);
            }
        }

        /** Registered twice, the work comes as late as the outbox's writing, see {@link TransactionBuffer}. */
        private void beforeCompletion(Runnable work) {
            registry.registerInterposedSynchronization(new Synchronization() {
                @Override
                public void beforeCompletion() {
                    try {
                        work.run();
                    } catch (RuntimeException e) {
                        note(e);
                    }
                }

                @Override
                public void afterCompletion(int status) {
                    // What was found counts, not how the transaction ends.
                }
            });
        }

        private void mark() throws SQLException {
            try (Connection connection = dataSource.getConnection();
                    PreparedStatement statement = connection.prepareStatement(MARK)) {
                statement.setString(1, mark);
                statement.execute();
            }
        }

        private void lookOnTheWay() {
            switch (way) {
                case DIRECTLY -> lookNow();
                case THROUGH_EJB -> ejb.accept(this::lookNow);
            }
        }

        private void lookNow() {
            try {
                found = look();
            } catch (SQLException e) {
                note(e);
            }
        }
    }
}
