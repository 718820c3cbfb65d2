package dev.twinbox.proof.servers.plain;

import jakarta.ejb.Stateless;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import javax.naming.InitialContext;
import javax.naming.NamingException;
import javax.sql.DataSource;

/** Writes by plain JDBC in the transaction of the caller. It knows nothing of Twinbox. In an EAR it is in an ejb-jar. */
@Stateless
public class Rows {

    public void write(String dataSource, String sql, String... values) {
        try (Connection connection =
                        InitialContext.<DataSource>doLookup(dataSource).getConnection();
                PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < values.length; i++) {
                statement.setString(i + 1, values[i]);
            }
            statement.executeUpdate();
        } catch (SQLException | NamingException e) {
            throw new IllegalStateException(e);
        }
    }
}
