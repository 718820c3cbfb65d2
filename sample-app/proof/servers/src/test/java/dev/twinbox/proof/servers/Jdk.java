package dev.twinbox.proof.servers;

import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Properties;
import java.util.stream.Stream;

/** The JDKs of this machine. */
final class Jdk {

    private static final Path INSTALLED = Path.of("/usr/lib/jvm");

    private Jdk() {}

    /** The lowest that will do, from {@code JAVA_HOME}, the JDK of the build and /usr/lib/jvm. Aborts the test if there is none. */
    static Path atLeast(int version) {
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
        return candidates.stream()
                .filter(jdk -> version(jdk) >= version)
                .min(Comparator.comparing(Jdk::version))
                .orElseGet(() -> abort("skipped: this server needs a JDK " + version
                        + " or later, and there is none in JAVA_HOME or " + INSTALLED));
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
                properties.getProperty("JAVA_VERSION", "0").replace("\"", "").split("\\.")[0]);
    }
}
