package dev.twinbox.proof.matrix;

import dev.twinbox.fixtures.KafkaBroker;
import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.fixtures.RelayProcess;
import dev.twinbox.proof.landscape.Installation;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.admin.Admin;

/** What all crashes of this JVM share: PostgreSQL, Kafka and the built files. The servers end with the JVM. */
final class ProofServers implements AutoCloseable {
    private static final PostgresServer POSTGRES = PostgresServer.create();
    private static final KafkaBroker KAFKA = KafkaBroker.create().withJvmOptions("-XX:TieredStopAtLevel=1");
    private static final AtomicInteger NEXT = new AtomicInteger();
    private static final String TEMPLATE = "outbox_template";
    private static boolean migrated; // guarded by TEMPLATE
    private static final Path FOLDER = Path.of("target", "crashes");

    private final Installation installation = Installation.in(Path.of(System.getProperty("twinbox.demo.root")));
    private final Admin admin;

    ProofServers() {
        POSTGRES.start();
        KAFKA.start();
        admin = Admin.create(Map.of("bootstrap.servers", (Object) KAFKA.bootstrapServers()));
    }

    Installation installation() {
        return installation;
    }

    Path byteman() {
        return installation.payara().resolveSibling("byteman.jar");
    }

    Path crashWar() {
        return Path.of(System.getProperty("twinbox.demo.root")).resolve("sample-app/proof/crash/target/crash.war");
    }

    PostgresServer postgres() {
        return POSTGRES;
    }

    KafkaBroker kafka() {
        return KAFKA;
    }

    Admin admin() {
        return admin;
    }

    /** A database with the tables of the relay's own {@code migrate} command. */
    void createOutboxDatabase(String name) throws SQLException {
        synchronized (TEMPLATE) {
            if (!migrated) {
                POSTGRES.createDatabase(TEMPLATE);
                migrate();
                migrated = true;
            }
            try (Connection connection = POSTGRES.connect("postgres");
                    Statement statement = connection.createStatement()) {
                statement.execute("create database " + name + " template " + TEMPLATE);
            }
        }
    }

    private void migrate() {
        try (RelayProcess migrate = RelayProcess.builder(installation.relay())
                .config("twinbox.relay.database.url", POSTGRES.jdbcUrl(TEMPLATE))
                .config("twinbox.relay.database.user", POSTGRES.user())
                .config("twinbox.relay.database.password", POSTGRES.password())
                .config("twinbox.relay.kafka.bootstrap.servers", KAFKA.bootstrapServers())
                .arguments("migrate")
                .build()
                .start()) {
            int exit = migrate.awaitExit(Duration.ofMinutes(4));
            if (exit != 0) {
                throw new IllegalStateException("migrate ended with " + exit + ": " + migrate.log());
            }
        }
    }

    /** For a database or a topic that nobody else has. */
    String newName(String prefix) {
        return prefix + "_" + NEXT.incrementAndGet();
    }

    /** Of this JVM only: what another has left there counts as never reached, armed or fired. */
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
