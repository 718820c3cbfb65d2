package dev.twinbox.relay.config;

import java.util.Optional;
import java.util.Properties;
import org.postgresql.Driver;

/** Reads a JDBC URL of PostgreSQL as pgjdbc does. */
public final class DatabaseUrl {

    private DatabaseUrl() {}

    /** The value of a parameter, such as {@code socketTimeout}; empty if the URL does not set it. */
    public static Optional<String> parameter(String url, String name) {
        Properties parameters = Driver.parseURL(url, null);
        return parameters == null ? Optional.empty() : Optional.ofNullable(parameters.getProperty(name));
    }
}
