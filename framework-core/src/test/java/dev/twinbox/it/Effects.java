package dev.twinbox.it;

import dev.twinbox.Outbox;
import jakarta.annotation.Resource;
import jakarta.annotation.sql.DataSourceDefinition;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.transaction.Transactional;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import javax.sql.DataSource;

/**
 * A business bean without JPA: plain JDBC through a data source that is not XA, as a role that may insert and nothing
 * else.
 */
@ApplicationScoped
@Transactional
@DataSourceDefinition(
        name = "java:app/jdbc/least",
        className = "org.postgresql.ds.PGSimpleDataSource",
        url = "${MPCONFIG=twinbox.it.least.url}?currentSchema=business",
        user = "app",
        password = "twinbox")
public class Effects {

    @Resource(lookup = "java:app/jdbc/least")
    DataSource dataSource;

    @Outbox
    public AccountChanged insert(long id) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement statement = connection.prepareStatement("insert into effect (id) values (?)")) {
            statement.setLong(1, id);
            statement.executeUpdate();
        }
        return new AccountChanged(id, "inserted");
    }

    @Outbox
    @Transactional(Transactional.TxType.REQUIRES_NEW)
    public AccountChanged insertInNewTransaction(long id) throws SQLException {
        return insert(id);
    }

    /** The process of PostgreSQL behind the current transaction's connection. */
    @Transactional(Transactional.TxType.SUPPORTS)
    public int backend() throws SQLException {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement statement = connection.prepareStatement("select pg_backend_pid()");
                ResultSet row = statement.executeQuery()) {
            row.next();
            return row.getInt(1);
        }
    }

    /** This role must be allowed to insert only, or the tests prove nothing. */
    @Transactional(Transactional.TxType.SUPPORTS)
    public void mayNot(String sql) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.execute();
        }
    }
}
