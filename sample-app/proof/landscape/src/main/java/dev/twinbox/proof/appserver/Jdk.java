package dev.twinbox.proof.appserver;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.stream.Stream;

/** The JDKs of this machine. */
public final class Jdk {

    static final Path INSTALLED = Path.of("/usr/lib/jvm");

    private Jdk() {}

    /** The lowest that will do, from {@code JAVA_HOME}, the JDK of the build and /usr/lib/jvm. */
    public static Optional<Path> atLeast(int version) {
        List<Path> candidates = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"))));
        String home = System.getenv("JAVA_HOME");
        if (home != null) {
            candidates.add(Path.of(home));
        }
        if (Files.isDirectory(INSTALLED)) {
            try (Stream<Path> folders = Files.list(INSTALLED)) {
                candidates.addAll(folders.toList());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return candidates.stream().filter(jdk -> version(jdk) >= version).min(Comparator.comparing(Jdk::version));
    }

    /** 0 if it is no JDK. */
    private static int version(Path jdk) {
        Path release = jdk.resolve("release");
        if (!Files.isRegularFile(release) || !Files.isExecutable(jdk.resolve("bin/jcmd"))) {
            return 0;
        }
        Properties properties = new Properties();
        try (InputStream in = Files.newInputStream(release)) {
            properties.load(in);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return Integer.parseInt(
                properties.getProperty("JAVA_VERSION", "0").replace("\"", "").split("\\.", -1)[0]);
    }
}
