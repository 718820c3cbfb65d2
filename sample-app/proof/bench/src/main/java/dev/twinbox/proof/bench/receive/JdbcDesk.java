package dev.twinbox.proof.bench.receive;

import dev.twinbox.InboxHandler;
import jakarta.annotation.Resource;
import jakarta.ejb.Stateless;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import javax.sql.DataSource;

/** A handler with JDBC, as an application writes it for high rates: the new events of a batch as one JDBC batch. */
@Stateless
public class JdbcDesk {

    @Resource(lookup = "java:app/jdbc/bench")
    private DataSource dataSource;

    @InboxHandler(topic = "bench-jdbc", name = "jdbc")
    public void place(List<OrderPlaced> orders) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement effects = connection.prepareStatement(EffectRow.INSERT)) {
            for (OrderPlaced order : orders) {
                EffectRow.bind(effects, order);
                effects.addBatch();
            }
            effects.executeBatch();
        }
    }
}
