package dev.twinbox.relay;

import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelayException;
import java.io.IOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Jars of the operator, for example with a login class for Kafka. {@code java -jar} ignores the class path. So the relay
 * takes the jars of the folder {@code lib} beside its own jar. A class that both have comes from the relay's jar.
 */
final class ExtraJars {
    static final String FOLDER = "lib";

    private static final Logger LOG = LoggerFactory.getLogger(ExtraJars.class);

    private ExtraJars() {}

    /**
     * Makes their classes visible to this thread, and to all threads that it starts. Kafka's client loads the classes
     * that its settings name by the thread's class loader.
     */
    static void load() {
        Path folder = folder();
        if (folder == null || !Files.isDirectory(folder)) {
            return;
        }
        try (Stream<Path> files = Files.list(folder)) {
            List<Path> jars = files.filter(file -> file.toString().endsWith(".jar"))
                    .sorted()
                    .toList();
            if (!jars.isEmpty()) {
                load(jars);
                LOG.debug("More classes from {}", jars);
            }
        } catch (IOException e) {
            throw new RelayException(
                    ExitCode.USAGE,
                    "the folder " + folder + " cannot be read: " + e.getMessage() + "; grant the relay's user access",
                    e);
        }
    }

    private static void load(List<Path> jars) throws IOException {
        List<URL> urls = new ArrayList<>();
        for (Path jar : jars) {
            urls.add(jar.toUri().toURL());
        }
        Thread thread = Thread.currentThread();
        thread.setContextClassLoader(new URLClassLoader(urls.toArray(URL[]::new), thread.getContextClassLoader()));
    }

    /** Null if the relay does not run from a jar. */
    private static @Nullable Path folder() {
        CodeSource source = ExtraJars.class.getProtectionDomain().getCodeSource();
        if (source == null || !source.getLocation().getPath().endsWith(".jar")) {
            return null;
        }
        try {
            return Path.of(source.getLocation().toURI()).resolveSibling(FOLDER);
        } catch (URISyntaxException e) {
            return null;
        }
    }
}
