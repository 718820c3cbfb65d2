package dev.twinbox.proof.appserver;

import dev.twinbox.fixtures.ApplicationServer;
import dev.twinbox.fixtures.CodeLocation;
import dev.twinbox.fixtures.PayaraManifest;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Payara Micro 6 or 7, set up by {@code glassfish.asadmin}. */
final class PayaraMicroServer extends ApplicationServer {

    private static final String LOOPBACK_ONLY = """
            set configs.config.server-config.network-config.network-listeners.network-listener.http-listener.address=127.0.0.1
            """;

    private final Path jar;
    private final ApplicationDatabase database;
    private final int controlPort = freePort();

    /** @param jar its file name holds the version */
    PayaraMicroServer(String name, Path javaHome, Path jar, ApplicationDatabase database) {
        super(name, javaHome);
        this.jar = jar;
        this.database = database;
    }

    @Override
    protected void prepare(Path folder) throws IOException {
        Files.writeString(folder.resolve("preboot"), LOOPBACK_ONLY);
        Template.of("glassfish.asadmin").with(database).writeTo(folder.resolve("twinbox.asadmin"));
    }

    @Override
    protected List<String> command(Path folder) {
        List<String> command = new ArrayList<>(
                List.of(java(), "-Xmx512m", "-XX:+UseSerialGC", QUICK_START, "-Djava.io.tmpdir=" + folder));
        command.addAll(PayaraManifest.options(jar));
        command.addAll(List.of("-cp", jar + File.pathSeparator + CodeLocation.of(PayaraMicroControl.class)));
        command.addAll(List.of(PayaraMicroControl.class.getName(), Integer.toString(controlPort)));
        command.addAll(List.of("--nocluster", "--disablephonehome", "--port", Integer.toString(port())));
        // Of Hazelcast, without which Payara Micro has no EJB timers.
        command.addAll(List.of("--interfaces", "127.0.0.1"));
        command.addAll(List.of("--addlibs", database.driver().toString()));
        command.addAll(List.of("--prebootcommandfile", folder.resolve("preboot").toString()));
        command.addAll(List.of(
                "--postbootcommandfile", folder.resolve("twinbox.asadmin").toString()));
        return command;
    }

    @Override
    protected boolean isStarted() {
        return currentLog().contains(PayaraMicroControl.READY);
    }

    @Override
    public boolean remembersApplications() {
        return false;
    }

    @Override
    public boolean hasEars() {
        return false;
    }

    @Override
    public void deploy(Path war) {
        ask("deploy " + war.toAbsolutePath());
    }

    @Override
    public void undeploy(Path war) {
        ask("undeploy " + war.toAbsolutePath());
    }

    private void ask(String command) {
        try {
            String answer = PayaraMicroControl.ask(controlPort, command);
            if (!answer.equals(PayaraMicroControl.DONE)) {
                throw refusal("refuses to " + command + ": " + answer);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
