package dev.twinbox.proof.appserver;

import dev.twinbox.fixtures.CodeLocation;
import java.nio.file.Path;

/**
 * The database of an application, for the server's data source.
 *
 * @param port of PostgreSQL on 127.0.0.1
 */
public record ApplicationDatabase(int port, String name, String user, String password) {

    /** JNDI name of the data source, the same on each server. */
    public static final String DATA_SOURCE = "jdbc/twinbox";

    /** JNDI name of a second data source of the same database. */
    public static final String OTHER_DATA_SOURCE = "jdbc/other";

    /** JNDI name of a third one. It is XA if {@link #DATA_SOURCE} is local, and local if that is XA. */
    public static final String ALTERNATIVE_DATA_SOURCE = "jdbc/alternative";

    /** The jar of PostgreSQL's JDBC driver, which the server needs. */
    public Path driver() {
        try {
            return CodeLocation.of(Class.forName("org.postgresql.Driver"));
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException("PostgreSQL's driver is not on the class path", e);
        }
    }
}
