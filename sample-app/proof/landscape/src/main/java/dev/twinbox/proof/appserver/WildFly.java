package dev.twinbox.proof.appserver;

import dev.twinbox.fixtures.ApplicationServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** WildFly with {@code standalone.xml}, set up by {@code wildfly.cli}. */
final class WildFly extends ApplicationServer {

    private final Path zip;
    private final ApplicationDatabase database;
    private final int managementPort = freePort();
    private final int httpsPort = freePort();

    WildFly(Path javaHome, Path zip, ApplicationDatabase database) {
        super("wildfly", javaHome);
        this.zip = zip;
        this.database = database;
    }

    @Override
    protected void prepare(Path folder) throws IOException {
        unzip(zip, folder);
        execute(folder, Template.of("wildfly.cli").with(database).writeTo(folder.resolve("twinbox.cli")));
    }

    private void execute(Path folder, Path script) {
        Path home = home(folder);
        run(home, List.of("bash", home.resolve("bin/jboss-cli.sh").toString(), "--file=" + script));
    }

    @Override
    protected boolean addTracing() {
        try {
            execute(folder(), Template.of("wildfly-tracing.cli").writeTo(folder().resolve("tracing.cli")));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return true;
    }

    private static Path home(Path folder) {
        try (var entries = Files.list(folder)) {
            return entries.filter(entry -> entry.getFileName().toString().startsWith("wildfly-"))
                    .findFirst()
                    .orElseThrow();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    protected Map<String, String> variables() {
        return Map.of("JAVA_OPTS", "-Xmx512m -XX:+UseSerialGC -Djava.net.preferIPv4Stack=true " + QUICK_START);
    }

    @Override
    protected List<String> command(Path folder) {
        return List.of(
                "bash",
                home(folder).resolve("bin/standalone.sh").toString(),
                "-b",
                "127.0.0.1",
                "-Djboss.http.port=" + port(),
                "-Djboss.https.port=" + httpsPort,
                "-Djboss.management.http.port=" + managementPort,
                // Another server on the same database server must not take its transactions for its own.
                "-Djboss.tx.node.id=twinbox-" + port());
    }

    @Override
    public Optional<URI> readiness() {
        return Optional.of(URI.create("http://127.0.0.1:" + managementPort + "/health/ready"));
    }

    @Override
    protected boolean isStarted() {
        return currentLog().contains("WFLYSRV0025") || currentLog().contains("WFLYSRV0026");
    }

    @Override
    public void deploy(Path war) {
        Path file = deployed(war, "");
        try {
            Files.deleteIfExists(deployed(war, ".failed"));
            Files.deleteIfExists(deployed(war, ".undeployed"));
            Path part = file.resolveSibling(war.getFileName() + ".part");
            Files.copy(war, part, StandardCopyOption.REPLACE_EXISTING);
            Files.move(part, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            Files.writeString(deployed(war, ".dodeploy"), "");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        // WildFly removes its marker of the wish last. A deployment that is taken back before is only done once more.
        await(
                "deployed " + war.getFileName(),
                () -> (Files.exists(deployed(war, ".deployed")) && !Files.exists(deployed(war, ".dodeploy")))
                        || Files.exists(deployed(war, ".failed")));
        if (Files.exists(deployed(war, ".failed"))) {
            throw refusal("refuses " + war.getFileName());
        }
    }

    @Override
    public void undeploy(Path war) {
        // On a busy machine WildFly has written its marker once more, after the wish to undeploy.
        await("undeployed " + war.getFileName(), () -> {
            deleteIfExists(deployed(war, ".deployed"));
            return Files.exists(deployed(war, ".undeployed"));
        });
    }

    private static void deleteIfExists(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Path deployed(Path war, String ending) {
        return home(folder()).resolve("standalone/deployments").resolve(war.getFileName() + ending);
    }
}
