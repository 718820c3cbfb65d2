package dev.twinbox.it;

import dev.twinbox.KeyLock;
import jakarta.annotation.Resource;
import jakarta.ejb.Stateless;
import jakarta.inject.Inject;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import javax.sql.DataSource;

/** A transaction of two databases under a lock. */
@Stateless
public class TwoEffects {

    @Inject
    LockedEffects effects;

    @Resource(lookup = "java:app/jdbc/other")
    DataSource other;

    public void write(String key, KeyLock lock) throws SQLException {
        effects.write(key, lock);
        try (Connection connection = other.getConnection();
                PreparedStatement insert = connection.prepareStatement("insert into other_effect (key) values (?)")) {
            insert.setString(1, key);
            insert.executeUpdate();
        }
    }
}
