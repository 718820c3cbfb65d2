package dev.twinbox.proof.appserver;

import dev.twinbox.fixtures.ApplicationServer;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** GlassFish 7, set up by {@code glassfish.asadmin}. */
final class GlassFish extends ApplicationServer {

    private static final String DOMAIN = "twinbox";

    private final Path zip;
    private final ApplicationDatabase database;
    private final int adminPort = freePort();

    GlassFish(Path javaHome, Path zip, ApplicationDatabase database) {
        super("glassfish", javaHome);
        this.zip = zip;
        this.database = database;
    }

    @Override
    protected void prepare(Path folder) throws IOException {
        unzip(zip, folder);
        String ports = "jms.port=%d:domain.jmxPort=%d:orb.listener.port=%d:http.ssl.port=%d:orb.ssl.port=%d"
                + ":orb.mutualauth.port=%d:java.debugger.port=%d:osgi.shell.telnet.port=%d";
        run(
                folder,
                asadmin(
                        folder,
                        "create-domain",
                        "--nopassword",
                        "--checkports=false",
                        "--instanceport",
                        Integer.toString(port()),
                        "--adminport",
                        Integer.toString(adminPort),
                        "--domainproperties",
                        ports.formatted(
                                freePort(),
                                freePort(),
                                freePort(),
                                freePort(),
                                freePort(),
                                freePort(),
                                freePort(),
                                freePort()),
                        DOMAIN));
        Path driver = database.driver();
        Files.copy(driver, domain(folder).resolve("lib").resolve(driver.getFileName()));
        Path xml = domain(folder).resolve("config/domain.xml");
        Files.writeString(
                xml,
                Files.readString(xml)
                        .replaceAll("(<network-listener[^>]*) address=\"[^\"]*\"", "$1")
                        .replace("<network-listener ", "<network-listener address=\"127.0.0.1\" ")
                        .replace("<jvm-options>-Xmx512m</jvm-options>", "<jvm-options>-Xmx640m</jvm-options>"));
        Template.of("glassfish.asadmin").with(database).writeTo(commands(folder));
    }

    private static Path domain(Path folder) {
        return folder.resolve("glassfish7/glassfish/domains").resolve(DOMAIN);
    }

    private static Path commands(Path folder) {
        return folder.resolve("twinbox.asadmin");
    }

    private static List<String> asadmin(Path folder, String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                "bash", folder.resolve("glassfish7/glassfish/bin/asadmin").toString(), "--interactive=false"));
        command.addAll(List.of(arguments));
        return command;
    }

    private void administer(String... arguments) {
        List<String> all = new ArrayList<>(List.of("--port", Integer.toString(adminPort)));
        all.addAll(List.of(arguments));
        run(folder(), asadmin(folder(), all.toArray(String[]::new)));
    }

    @Override
    protected List<String> command(Path folder) {
        return asadmin(folder, "start-domain", "--verbose", DOMAIN);
    }

    @Override
    public Optional<URI> readiness() {
        return Optional.empty();
    }

    /** For the domain, and for each command, which is a JVM of its own. */
    @Override
    protected Map<String, String> variables() {
        return Map.of("JAVA_TOOL_OPTIONS", "-XX:+UseSerialGC " + QUICK_START);
    }

    @Override
    protected boolean addTracing() {
        return false;
    }

    @Override
    protected boolean isStarted() {
        return currentLog().contains("startup time");
    }

    @Override
    protected void configure() {
        administer("multimode", "--file", commands(folder()).toString());
    }

    @Override
    public void deploy(Path war) {
        administer("deploy", "--name", name(war), "--contextroot", name(war), war.toString()); // an EAR has its own
    }

    @Override
    public void undeploy(Path war) {
        administer("undeploy", name(war));
    }

    private static String name(Path war) {
        return war.getFileName().toString().replaceAll("\\.[we]ar$", "");
    }
}
