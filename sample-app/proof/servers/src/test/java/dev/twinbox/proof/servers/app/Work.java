package dev.twinbox.proof.servers.app;

import dev.twinbox.OutboxPublisher;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.persistence.EntityManager;
import jakarta.persistence.PersistenceContext;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import javax.naming.InitialContext;
import javax.naming.NamingException;
import javax.sql.DataSource;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/** Changes an account and publishes the event of it, in the transaction of the caller. */
@ApplicationScoped
public class Work {

    /** When the event is published. */
    public enum When {
        BEFORE_JPA,
        AFTER_JPA,
        IN_FLUSH,
        PLAIN_JDBC,
        /** The outbox's data source comes second. */
        TWO_DATA_SOURCES,
        /** The outbox's data source comes first. */
        TWO_DATA_SOURCES_REVERSED
    }

    @PersistenceContext
    private EntityManager entities;

    @Inject
    private OutboxPublisher publisher;

    @Inject
    @ConfigProperty(name = "twinbox.outbox.data-source")
    private String dataSource;

    @Inject
    @ConfigProperty(name = "servers.other-data-source")
    private String otherDataSource;

    public void change(long account, String ref, When when) {
        switch (when) {
            case BEFORE_JPA -> {
                publish(account, ref);
                persist(account, ref, false);
            }
            case AFTER_JPA -> {
                persist(account, ref, false);
                publish(account, ref);
            }
            case IN_FLUSH -> persist(account, ref, true);
            case PLAIN_JDBC -> {
                publish(account, ref);
                insert(account, ref);
            }
            case TWO_DATA_SOURCES -> {
                insertElsewhere(ref);
                publish(account, ref);
                insert(account, ref);
            }
            case TWO_DATA_SOURCES_REVERSED -> {
                publish(account, ref);
                insert(account, ref);
                insertElsewhere(ref);
            }
        }
    }

    void publish(long account, String ref) {
        publisher.publish(new AccountChanged(account, ref));
    }

    private void persist(long account, String ref, boolean announced) {
        entities.persist(new Business(ref, account, announced));
        entities.find(Account.class, account).setNote(ref);
    }

    private void insert(long account, String ref) {
        try (Connection connection =
                InitialContext.<DataSource>doLookup(dataSource).getConnection()) {
            update(connection, "insert into business (ref, account, announced) values (?, ?, false)", ref, account);
            update(connection, "update account set note = ? where id = ?", ref, account);
        } catch (SQLException | NamingException e) {
            throw new IllegalStateException(e);
        }
    }

    private void insertElsewhere(String ref) {
        try (Connection connection =
                        InitialContext.<DataSource>doLookup(otherDataSource).getConnection();
                PreparedStatement statement = connection.prepareStatement("insert into elsewhere values (?)")) {
            statement.setString(1, ref);
            statement.executeUpdate();
        } catch (SQLException | NamingException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void update(Connection connection, String sql, String ref, long account) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, ref);
            statement.setLong(2, account);
            statement.executeUpdate();
        }
    }
}
