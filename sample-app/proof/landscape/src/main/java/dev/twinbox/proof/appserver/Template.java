package dev.twinbox.proof.appserver;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** A server's configuration as the documentation shows it, with {@code @NAME@} where each installation differs. */
public final class Template {

    private String text;

    private Template(String text) {
        this.text = text;
    }

    /**
     * Reads a configuration.
     *
     * @param file beside this class
     */
    public static Template of(String file) {
        try (InputStream in = Template.class.getResourceAsStream(file)) {
            if (in == null) {
                throw new IllegalArgumentException("no such file: " + file);
            }
            return new Template(new String(in.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Template with(String name, Object value) {
        text = text.replace("@" + name + "@", value.toString());
        return this;
    }

    /** The values that say where the database is. */
    public Template with(ApplicationDatabase database) {
        return with("DRIVER", database.driver())
                .with("DB_HOST", "127.0.0.1")
                .with("DB_PORT", database.port())
                .with("DB_NAME", database.name())
                .with("DB_USER", database.user())
                .with("DB_PASSWORD", database.password());
    }

    /**
     * The configuration.
     *
     * @throws IllegalStateException if a value is missing
     */
    public String text() {
        if (text.matches("(?s).*@[A-Z_]+@.*")) {
            throw new IllegalStateException("a value is missing in " + text);
        }
        return text;
    }

    /** Writes the configuration. */
    Path writeTo(Path file) throws IOException {
        Files.createDirectories(file.getParent());
        return Files.writeString(file, text());
    }
}
