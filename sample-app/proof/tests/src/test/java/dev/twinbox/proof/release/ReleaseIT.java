package dev.twinbox.proof.release;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Builds the published modules once more in another folder, without and with the profile {@code release}. Two builds take
 * minutes, so this runs before a release: {@code ./mvnw -Pproof verify -Dtwinbox.it.excludedGroups=none}.
 */
@Tag("proof")
@Tag("release")
class ReleaseIT {
    private static final Path ROOT = Path.of(System.getProperty("twinbox.root"));
    private static final Set<String> NOT_SOURCES = Set.of("target", ".git", ".idea");
    private static final long MINUTES = 15;

    @TempDir
    static Path second;

    /** A module whose jar is published. */
    enum Published {
        CORE("framework-core", "twinbox-core-%s"),
        CONSOLE("framework-core/console", "twinbox-console-%s"),
        RELAY("outbox-relay", "twinbox-relay"),
        INBOX("inbox-receiver", "twinbox-inbox"),
        INBOX_CLI("inbox-receiver/cli", "twinbox-inbox-cli");

        private final String folder;
        private final String name;

        Published(String folder, String name) {
            this.folder = folder;
            this.name = name;
        }

        Path file(Path root, String ending) {
            return root.resolve(folder).resolve("target").resolve(name.formatted(VERSION) + ending);
        }

        /** Its jar from the build without the profile. */
        Path copy() {
            return second.resolve(name() + ".jar");
        }
    }

    private static final String VERSION = "0.1.0-SNAPSHOT";

    @BeforeAll
    static void buildsOnceMore() throws IOException, InterruptedException {
        copySources();
        build("plain.log");
        for (Published module : Published.values()) {
            Files.copy(module.file(second, ".jar"), module.copy());
        }
        // A release has POMs of its own in its jars, so it is a second step.
        assertThat(build("release.log", "-Prelease"))
                .as("says that the project's address is unset")
                .contains("twinbox.url is unset");
    }

    private static String build(String logName, String... options) throws IOException, InterruptedException {
        Path log = second.resolve(logName);
        List<String> command = new ArrayList<>(List.of(
                "./mvnw",
                "--batch-mode",
                "package",
                "-Dmaven.test.skip=true",
                "-Dspotless.check.skip=true",
                "-am",
                "-pl",
                Stream.of(Published.values()).map(each -> each.folder).collect(Collectors.joining(","))));
        command.addAll(List.of(options));
        Process build = new ProcessBuilder(command)
                .directory(second.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        boolean ended = build.waitFor(MINUTES, TimeUnit.MINUTES);
        build.descendants().forEach(ProcessHandle::destroyForcibly);
        build.destroyForcibly();

        assertThat(ended).as("the build ended within %d minutes", MINUTES).isTrue();
        assertThat(build.exitValue()).as(() -> read(log)).isZero();
        return read(log);
    }

    @ParameterizedTest
    @EnumSource
    void twoBuildsAreEqualByteForByte(Published module) throws IOException {
        Path here = module.file(ROOT, ".jar");
        Path there = module.copy();

        assertThat(Files.mismatch(here, there))
                .as("first byte in which %s and %s differ", here, there)
                .isEqualTo(-1);
    }

    @ParameterizedTest
    @EnumSource
    void aModuleHasWhatMavenCentralAsksForButTheSignature(Published module) {
        assertThat(List.of("-sources.jar", "-javadoc.jar", "-cyclonedx.json"))
                .allSatisfy(ending -> assertThat(module.file(second, ending)).isNotEmptyFile());
        assertThat(read(second.resolve(module.folder).resolve("target/.flattened-pom.xml")))
                .contains("<name>", "<description>", "<license>", "<developer>", "<scm>");
    }

    @Test
    void whatIsShadedBringsItsLicences() {
        assertThat(List.of(Published.RELAY, Published.INBOX_CLI)).allSatisfy(module -> {
            Path licences = second.resolve(module.folder).resolve("target/classes/META-INF/third-party/licences.txt");
            assertThat(read(licences)).contains("org.postgresql:postgresql", "info.picocli:picocli");
        });
    }

    private static void copySources() throws IOException {
        Files.walkFileTree(ROOT, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) throws IOException {
                if (NOT_SOURCES.contains(folder.getFileName().toString())) {
                    return FileVisitResult.SKIP_SUBTREE;
                }
                Files.createDirectories(second.resolve(ROOT.relativize(folder)));
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.copy(file, second.resolve(ROOT.relativize(file)), StandardCopyOption.COPY_ATTRIBUTES);
                return FileVisitResult.CONTINUE;
            }
        });
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
