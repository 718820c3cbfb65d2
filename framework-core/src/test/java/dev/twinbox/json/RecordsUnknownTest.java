package dev.twinbox.json;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.TwinboxException;
import dev.twinbox.fixtures.CodeLocation;
import dev.twinbox.fixtures.ForeignLoader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Supplier;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.eclipse.yasson.JsonBindingProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A server that does not see the multi-release part of its JSON-B, as Payara Micro started through its API. */
@Tag("yasson")
class RecordsUnknownTest {

    public record Plain(String id) {}

    /** Writes and reads a record, and says how it was refused. */
    public static class Written implements Supplier<String> {
        @Override
        public String get() {
            return refusal(() -> new JsonbSerializer().serialize(new Plain("1")));
        }
    }

    public static class Read implements Supplier<String> {
        @Override
        public String get() {
            byte[] json = "{\"id\":\"1\"}".getBytes(StandardCharsets.UTF_8);
            return refusal(() -> new JsonbSerializer().deserialize(json, Plain.class));
        }
    }

    @TempDir
    Path classes;

    @Test
    void aRecordIsRefusedInsteadOfWrittenAsAnEmptyObject() throws IOException {
        unpackWithoutVersions();

        assertThat(ForeignLoader.run(Written.class, classes))
                .contains("Plain cannot be written: this server's JSON-B does not know records")
                .contains("java -jar");
    }

    @Test
    void aRecordIsRefusedInsteadOfReadWithoutItsComponents() throws IOException {
        unpackWithoutVersions();

        assertThat(ForeignLoader.run(Read.class, classes))
                .contains("Plain cannot be read: this server's JSON-B does not know records")
                .contains("@JsonbCreator");
    }

    private static String refusal(Supplier<?> task) {
        try {
            return "not refused: " + task.get();
        } catch (TwinboxException e) {
            return String.valueOf(e.getMessage());
        }
    }

    /** A folder has no multi-release part, and it comes before the jar. */
    private void unpackWithoutVersions() throws IOException {
        try (JarFile jar =
                new JarFile(CodeLocation.of(JsonBindingProvider.class).toFile())) {
            for (JarEntry entry : jar.stream()
                    .filter(entry -> entry.getName().startsWith("org/eclipse/yasson/")
                            && entry.getName().endsWith(".class"))
                    .toList()) {
                Path file = classes.resolve(entry.getName());
                Files.createDirectories(file.getParent());
                Files.copy(jar.getInputStream(entry), file);
            }
        }
    }
}
