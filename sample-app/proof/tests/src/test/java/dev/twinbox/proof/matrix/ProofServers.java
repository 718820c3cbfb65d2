package dev.twinbox.proof.matrix;

import dev.twinbox.fixtures.KafkaBroker;
import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.proof.landscape.BuiltFile;
import dev.twinbox.proof.landscape.Installation;
import dev.twinbox.proof.landscape.Servers;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.admin.Admin;

/** What all crash tests of this JVM share: PostgreSQL, Kafka and the built files. The servers end with the JVM. */
final class ProofServers implements AutoCloseable {
    private static final Path ROOT = Path.of(System.getProperty("twinbox.root"));
    private static final Servers SERVERS = Servers.of(
            Installation.in(
                    ROOT,
                    EnumSet.of(
                            BuiltFile.RELAY,
                            BuiltFile.INBOX_CLI,
                            BuiltFile.ORDERS,
                            BuiltFile.PAYARA,
                            BuiltFile.CRASH,
                            BuiltFile.BYTEMAN)),
            1);
    private static final AtomicInteger NEXT = new AtomicInteger();
    private static final String TEMPLATE = "outbox_template";
    private static boolean migrated; // guarded by TEMPLATE
    private static final Path FOLDER = Path.of("target", "crashes");

    static {
        SERVERS.kafka().withJvmOptions("-XX:TieredStopAtLevel=1");
    }

    private final Admin admin;

    ProofServers() {
        SERVERS.start();
        admin = Admin.create(Map.of("bootstrap.servers", (Object) SERVERS.bootstrapServers()));
    }

    /** What runs relays and applications on these servers. */
    Servers servers() {
        return SERVERS;
    }

    Path byteman() {
        return SERVERS.installation().file(BuiltFile.BYTEMAN);
    }

    PostgresServer postgres() {
        return SERVERS.postgres();
    }

    KafkaBroker kafka() {
        return SERVERS.kafka();
    }

    Admin admin() {
        return admin;
    }

    /** Creates a database with the tables of the relay's own {@code migrate} command. */
    void createOutboxDatabase(String name) throws SQLException {
        synchronized (TEMPLATE) {
            if (!migrated) {
                SERVERS.createOutbox(TEMPLATE, Map.of());
                migrated = true;
            }
            try (Connection connection = postgres().connect("postgres");
                    Statement statement = connection.createStatement()) {
                statement.execute("create database " + name + " template " + TEMPLATE);
            }
        }
    }

    /** A unique name for a database or a topic. */
    String newName(String prefix) {
        return prefix + "_" + NEXT.incrementAndGet();
    }

    /** A new folder: files of another run would count as reached, armed or fired. */
    Path folder(String name) {
        return FOLDER.resolve(ProcessHandle.current().pid() + "-" + System.nanoTime())
                .resolve(name);
    }

    boolean hasTopic(String name) {
        try {
            Set<String> names = admin.listTopics().names().get();
            return names.contains(name);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        admin.close();
    }
}
