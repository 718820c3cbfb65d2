package dev.twinbox.proof.servers;

import dev.twinbox.fixtures.ApplicationServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.regex.Pattern;

/** Open Liberty, set up by {@code liberty-server.xml}. */
public final class OpenLiberty extends ApplicationServer {

    /** JNDI name of the data source. */
    public static final String DATA_SOURCE = "jdbc/twinbox";

    /** JNDI name of the second one. */
    public static final String OTHER_DATA_SOURCE = "jdbc/other";

    private static final Pattern STARTED = Pattern.compile("CWWKZ000[13]I");
    private static final Pattern REFUSED = Pattern.compile("CWWKZ0002E|CWWKZ0004E|CWWKZ0013E");
    private static final Pattern STOPPED = Pattern.compile("CWWKZ0009I");

    private final Path zip;
    private final ApplicationDatabase database;

    public OpenLiberty(Path javaHome, Path zip, ApplicationDatabase database) {
        super("liberty", javaHome);
        this.zip = zip;
        this.database = database;
    }

    @Override
    protected void prepare(Path folder) throws IOException {
        unzip(zip, folder);
        Path server = server(folder);
        Template.of("liberty-server.xml")
                .with(database)
                .with("HTTP_PORT", port())
                .writeTo(server.resolve("server.xml"));
        Files.writeString(server.resolve("jvm.options"), "-Xmx512m\n-XX:+UseSerialGC\n");
        Files.createDirectories(server.resolve("dropins"));
    }

    private static Path server(Path folder) {
        return folder.resolve("wlp/usr/servers/defaultServer");
    }

    @Override
    protected List<String> command(Path folder) {
        return List.of("bash", folder.resolve("wlp/bin/server").toString(), "run", "defaultServer");
    }

    @Override
    protected boolean isStarted() {
        return currentLog().contains("CWWKF0011I");
    }

    @Override
    public void deploy(Path war) {
        long started = count(STARTED);
        long refused = count(REFUSED);
        Path file = dropin(war);
        try {
            Path part = folder().resolve(war.getFileName());
            Files.copy(war, part, StandardCopyOption.REPLACE_EXISTING);
            Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        await("started " + war.getFileName(), () -> count(STARTED) > started || count(REFUSED) > refused);
        if (count(REFUSED) > refused) {
            throw refusal("refuses " + war.getFileName());
        }
    }

    @Override
    public void undeploy(Path war) {
        long stopped = count(STOPPED);
        try {
            Files.delete(dropin(war));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        await("stopped " + war.getFileName(), () -> count(STOPPED) > stopped);
    }

    private Path dropin(Path war) {
        return server(folder()).resolve("dropins").resolve(war.getFileName());
    }

    private long count(Pattern message) {
        return message.matcher(currentLog()).results().count();
    }
}
