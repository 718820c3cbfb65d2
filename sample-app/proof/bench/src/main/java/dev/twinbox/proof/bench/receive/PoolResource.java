package dev.twinbox.proof.bench.receive;

import jakarta.annotation.Resource;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.QueryParam;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;

/** Takes every connection of the pool and keeps them for a while, as a leak or slow requests do. */
@Path("pool")
public class PoolResource {

    private static final int CONNECTIONS = 8;

    @Resource(lookup = "java:app/jdbc/bench")
    private DataSource dataSource;

    /** Returns the number of connections that were held, when they are free again. */
    @POST
    public String hold(@QueryParam("seconds") int seconds) throws SQLException, InterruptedException {
        List<Connection> held = new ArrayList<>();
        try {
            while (held.size() < CONNECTIONS) {
                held.add(dataSource.getConnection());
            }
            TimeUnit.SECONDS.sleep(seconds);
            return Integer.toString(held.size());
        } finally {
            for (Connection connection : held) {
                connection.close();
            }
        }
    }
}
