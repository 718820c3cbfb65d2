package dev.twinbox.sample.orders;

import jakarta.annotation.PostConstruct;
import jakarta.ejb.Singleton;
import jakarta.ejb.Startup;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Objects;
import javax.naming.InitialContext;
import javax.naming.NamingException;
import javax.sql.DataSource;

/** Creates the tables of this application when it starts, unless they are there. */
@Singleton
@Startup
public class OrdersTables {

    /** The data source of persistence.xml and of the outbox. The server's configuration defines it. */
    private static final String DATA_SOURCE = "jdbc/twinbox";

    @PostConstruct
    @SuppressWarnings("BanJNDI") // the name is a constant
    void create() {
        try (InputStream script =
                        Objects.requireNonNull(OrdersTables.class.getResourceAsStream("/orders.sql"), "orders.sql");
                Connection connection =
                        InitialContext.<DataSource>doLookup(DATA_SOURCE).getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(new String(script.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (SQLException | NamingException e) {
            throw new IllegalStateException("Cannot create the tables of the orders in " + DATA_SOURCE, e);
        }
    }
}
