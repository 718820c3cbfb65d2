package dev.twinbox.proof.appserver;

import dev.twinbox.fixtures.ApplicationServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.regex.Pattern;

/** Open Liberty, set up by {@code liberty-server.xml}. */
final class OpenLiberty extends ApplicationServer {

    private static final String STARTED = "CWWKZ000[13]I";
    private static final String REFUSED = "CWWKZ0002E|CWWKZ0004E|CWWKZ0013E";
    private static final String STOPPED = "CWWKZ0009I";

    private final Path zip;
    private final ApplicationDatabase database;

    OpenLiberty(Path javaHome, Path zip, ApplicationDatabase database) {
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
        Files.writeString(server.resolve("jvm.options"), "-Xmx512m\n-XX:+UseSerialGC\n" + QUICK_START + "\n");
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
    protected boolean addTracing() {
        try {
            Template.of("liberty-telemetry.xml")
                    .writeTo(server(folder()).resolve("configDropins/overrides/telemetry.xml"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return true;
    }

    @Override
    protected boolean isStarted() {
        return currentLog().contains("CWWKF0011I");
    }

    @Override
    public void deploy(Path war) {
        long started = count(STARTED, war);
        long refused = count(REFUSED, war);
        Path file = dropin(war);
        try {
            Path part = folder().resolve(war.getFileName());
            Files.copy(war, part, StandardCopyOption.REPLACE_EXISTING);
            Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
            await("started " + war.getFileName(), () -> count(STARTED, war) > started || count(REFUSED, war) > refused);
            if (count(REFUSED, war) > refused) {
                Files.delete(file); // another start of the server would try it again
                throw refusal("refuses " + war.getFileName());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void undeploy(Path war) {
        long stopped = count(STOPPED, war);
        try {
            Files.delete(dropin(war));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        await("stopped " + war.getFileName(), () -> count(STOPPED, war) > stopped);
    }

    private Path dropin(Path war) {
        return server(folder()).resolve("dropins").resolve(war.getFileName());
    }

    /** How often the server has logged one of the messages about an application. */
    private long count(String messages, Path war) {
        String name = war.getFileName().toString().replaceAll("\\.[we]ar$", "");
        return Pattern.compile("(?:" + messages + ").*\\b" + Pattern.quote(name) + "\\b")
                .matcher(currentLog())
                .results()
                .count();
    }
}
