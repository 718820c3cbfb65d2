package dev.twinbox.proof.soak;

import dev.twinbox.proof.landscape.BuiltFile;
import dev.twinbox.proof.landscape.Installation;
import dev.twinbox.proof.landscape.Part;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Two versions of the shipping service. Each is {@code shipping.war} with handlers of the soak added. Version 2 has one
 * handler more. Each receiver has a file of its own, which holds the version that it deploys next.
 */
final class Versions {

    static final int FIRST = 1;
    static final int SECOND = 2;

    private static final String CLASSES = "WEB-INF/classes";
    private static final String WAR = "shipping.war";
    private static final List<String> OF_BOTH = List.of(
            "receiver/EffectBook.class",
            "receiver/NoticeDesk.class",
            "receiver/NoticeGiven.class",
            "receiver/ReturnAsked.class",
            "receiver/ReturnDesk.class");
    private static final List<String> OF_THE_SECOND =
            List.of("receiver/RefundDesk.class", "receiver/ReturnRefunded.class");

    private final Path folder;
    private final Map<Part, Integer> current = new ConcurrentHashMap<>();

    /**
     * Writes both versions. One receiver begins with each, so both are there from the start.
     *
     * @param folder for the files
     */
    Versions(Installation installation, Path folder) {
        this.folder = folder;
        try {
            for (int version : new int[] {FIRST, SECOND}) {
                write(installation.file(BuiltFile.SHIPPING), version);
            }
            set(Part.RECEIVER_1, FIRST);
            set(Part.RECEIVER_2, SECOND);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot write the two versions to " + folder, e);
        }
    }

    private void write(Path shipping, int version) throws IOException {
        Path war = war(version);
        Files.createDirectories(Objects.requireNonNull(war.getParent()));
        Files.copy(shipping, war, StandardCopyOption.REPLACE_EXISTING);
        List<String> classes = new ArrayList<>(OF_BOTH);
        if (version == SECOND) {
            classes.addAll(OF_THE_SECOND);
        }
        try (FileSystem content = FileSystems.newFileSystem(war)) {
            Path root = content.getPath(CLASSES);
            Path target = root.resolve(Versions.class.getPackageName().replace('.', '/'));
            Files.createDirectories(target.resolve("receiver"));
            for (String each : classes) {
                try (InputStream bytes = Objects.requireNonNull(Versions.class.getResourceAsStream(each), each)) {
                    Files.copy(bytes, target.resolve(each));
                }
            }
            Files.writeString(root.resolve("soak-version"), Integer.toString(version));
        }
    }

    private Path war(int version) {
        return folder.resolve("version-" + version).resolve(WAR);
    }

    /** The file that a receiver deploys. */
    Path file(Part receiver) {
        return folder.resolve(receiver.name()).resolve(WAR);
    }

    /** The version that a receiver has, or gets at its next deployment. */
    int of(Part receiver) {
        return Objects.requireNonNull(current.get(receiver), receiver + " is no receiver");
    }

    /** Gives a receiver the other version at its next deployment. */
    void exchange(Part receiver) {
        try {
            set(receiver, of(receiver) == FIRST ? SECOND : FIRST);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot give " + receiver + " its other version", e);
        }
    }

    private void set(Part receiver, int version) throws IOException {
        Path file = file(receiver);
        Path next = file.resolveSibling("next");
        Files.createDirectories(Objects.requireNonNull(file.getParent()));
        Files.copy(war(version), next, StandardCopyOption.REPLACE_EXISTING);
        // A server that reads the file just now reads one version or the other.
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
        current.put(receiver, version);
    }

    /** Whether a receiver has the second version. */
    boolean hasSecond() {
        return current.containsValue(SECOND);
    }
}
