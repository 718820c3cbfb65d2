package dev.twinbox.proof.landscape;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.stream.Collectors;

/** A built source tree: where the files are that run as processes. */
public final class Installation {

    private final Path root;

    private Installation(Path root) {
        this.root = root;
    }

    /**
     * Checks that the files are built.
     *
     * @param root the top folder of the repository
     * @param needed the files that will be used
     * @throws IllegalStateException if files are missing; the message names them and the command that builds them
     */
    public static Installation in(Path root, Set<BuiltFile> needed) {
        Installation found = new Installation(root.toAbsolutePath().normalize());
        String missing = needed.stream()
                .sorted()
                .map(found::file)
                .filter(file -> !Files.isRegularFile(file))
                .map(Path::toString)
                .collect(Collectors.joining(", "));
        if (!missing.isEmpty()) {
            throw new IllegalStateException(
                    "Not built: " + missing + ". In " + found.root + " run: ./mvnw package -DskipTests");
        }
        return found;
    }

    /** The path of a file. It exists if it was named to {@link #in}. */
    public Path file(BuiltFile file) {
        return root.resolve(file.path());
    }
}
