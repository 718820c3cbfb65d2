package dev.twinbox.it;

import jakarta.annotation.Resource;
import jakarta.annotation.sql.DataSourceDefinition;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.persistence.EntityManager;
import jakarta.persistence.PersistenceContext;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import javax.sql.DataSource;

/** The data sources of the main test application. {@code ${MPCONFIG=…}} is Payara's syntax. */
@ApplicationScoped
@DataSourceDefinition(
        name = "java:app/jdbc/main",
        className = "org.postgresql.xa.PGXADataSource",
        url = "${MPCONFIG=twinbox.it.url}",
        user = "${MPCONFIG=twinbox.it.user}",
        password = "${MPCONFIG=twinbox.it.password}",
        maxPoolSize = 40)
@DataSourceDefinition(
        name = "java:app/jdbc/second",
        className = "org.postgresql.xa.PGXADataSource",
        url = "${MPCONFIG=twinbox.it.second.url}",
        user = "${MPCONFIG=twinbox.it.user}",
        password = "${MPCONFIG=twinbox.it.password}")
public class Resources {

    @Resource(lookup = "java:app/jdbc/main")
    DataSource main;

    @Resource(lookup = "java:app/jdbc/second")
    DataSource second;

    @PersistenceContext(unitName = "hibernate")
    EntityManager hibernate;

    @PersistenceContext(unitName = "eclipselink")
    EntityManager eclipseLink;

    public EntityManager entityManager(String unit) {
        return unit.equals("hibernate") ? hibernate : eclipseLink;
    }

    public void insertAccount(long id, String note) throws SQLException {
        update(main, "insert into account (id, note) values (?, ?)", id, note);
    }

    public void changeAccount(long id, String note) throws SQLException {
        update(main, "update account set note = ? where id = ?", note, id);
    }

    /** The events of an account that the current transaction sees. */
    public int events(long account) throws SQLException {
        try (Connection connection = main.getConnection();
                PreparedStatement statement =
                        connection.prepareStatement("select count(*) from outbox_event where key = ?")) {
            statement.setString(1, Long.toString(account));
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getInt(1);
            }
        }
    }

    public void insertEffect(long id) throws SQLException {
        update(second, "insert into effect (id) values (?)", id);
    }

    private static void update(DataSource dataSource, String sql, Object... parameters) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < parameters.length; i++) {
                statement.setObject(i + 1, parameters[i]);
            }
            statement.executeUpdate();
        }
    }
}
