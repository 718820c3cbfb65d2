package dev.twinbox.relay.engine;

import dev.twinbox.fixtures.PostgresServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.concurrent.TimeUnit;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Two servers of one cluster, each with a data folder of its own, and an address that leads to one of them. Open
 * connections stay where they are when the address changes.
 */
final class CopiedServer implements AutoCloseable {
    private final Path folder;
    private final PostgresServer first;
    private final PostgresServer second;
    private volatile PostgresServer leadsTo;

    /** @param folder empty; {@link #copy} fills it */
    CopiedServer(Path folder) throws IOException {
        // The servers do not run as root.
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwxrwx"));
        this.folder = folder;
        this.first = PostgresServer.create().withDataDirectory(folder.resolve("first"));
        this.second = PostgresServer.create().withDataDirectory(folder.resolve("second"));
        this.leadsTo = first;
    }

    PostgresServer first() {
        return first;
    }

    PostgresServer second() {
        return second;
    }

    /** The second server begins as a copy of the first, which must not run. */
    void copy() throws IOException, InterruptedException {
        Process copy = new ProcessBuilder(
                        "cp",
                        "-a",
                        folder.resolve("first").toString(),
                        folder.resolve("second").toString())
                .inheritIO()
                .start();
        if (!copy.waitFor(60, TimeUnit.SECONDS) || copy.exitValue() != 0) {
            throw new IOException("cannot copy the data folder");
        }
        Files.deleteIfExists(folder.resolve("second").resolve("postmaster.pid"));
    }

    /** The second server starts as a hot standby, until it is promoted. */
    void makeStandby() throws IOException {
        Files.createFile(folder.resolve("second").resolve("standby.signal"));
    }

    /** From now on new connections lead to the second server. */
    void switchOver() {
        leadsTo = second;
    }

    /** The address, as a relay sees it. */
    PGSimpleDataSource address(String database) {
        return new PGSimpleDataSource() {
            @Override
            public Connection getConnection() throws SQLException {
                return DriverManager.getConnection(
                        leadsTo.jdbcUrl(database) + "?prepareThreshold=1", leadsTo.user(), leadsTo.password());
            }
        };
    }

    @Override
    public void close() {
        second.close();
        first.close();
    }
}
