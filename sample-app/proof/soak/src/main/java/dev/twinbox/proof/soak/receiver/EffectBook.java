package dev.twinbox.proof.soak.receiver;

import dev.twinbox.EventContext;
import jakarta.annotation.Resource;
import jakarta.ejb.Stateless;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Objects;
import javax.sql.DataSource;

/** Enters what was applied, and by which version, in the handler's transaction. A second entry would show. */
@Stateless
public class EffectBook {

    /** A file in the application that holds its version. */
    private static final String VERSION_FILE = "/soak-version";

    private static final int VERSION = version();

    private static final String ENTER = """
            -- soak: effect
            insert into series_effect (event_id, type, key, number, version, record) values (?, ?, ?, ?, ?, ?)""";

    @Resource(lookup = "jdbc/twinbox")
    private DataSource database;

    /** Enters one effect. */
    public void enter(EventContext event, String key, long number) throws SQLException {
        try (Connection connection = database.getConnection();
                PreparedStatement statement = connection.prepareStatement(ENTER)) {
            statement.setString(1, event.id());
            statement.setString(2, event.type());
            statement.setString(3, key);
            statement.setLong(4, number);
            statement.setInt(5, VERSION);
            statement.setString(6, event.topic() + "-" + event.partition() + "@" + event.offset());
            statement.executeUpdate();
        }
    }

    private static int version() {
        try (InputStream file = Objects.requireNonNull(EffectBook.class.getResourceAsStream(VERSION_FILE))) {
            return Integer.parseInt(new String(file.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot read " + VERSION_FILE, e);
        }
    }
}
