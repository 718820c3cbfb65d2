package dev.twinbox.schema;

import dev.twinbox.SchemaException;
import dev.twinbox.jdbc.SqlIdentifier;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The migrations as one SQL text, with the names of the tables filled in. It is for those who keep all SQL among the
 * migrations of their application, so it needs neither a database nor Flyway.
 */
public final class SchemaScript {

    private static final Pattern FILE = Pattern.compile("V(\\d+)__.*\\.sql");
    private static final Pattern PLACEHOLDER = Pattern.compile("\\$\\{(\\w+)}");

    private SchemaScript() {}

    /**
     * Reads the migrations later than a version.
     *
     * @param owner a class of the folder or jar that holds the files
     * @param location folder with files {@code V<n>__<name>.sql}
     * @param schema is created at the beginning; null: unqualified names
     * @param placeholders values for <code>${name}</code> in the files
     * @param after version of the tables that are there; 0: there are none
     */
    public static String of(
            Class<?> owner, String location, @Nullable String schema, Map<String, String> placeholders, int after) {
        StringBuilder script = new StringBuilder();
        if (schema != null && after == 0) {
            script.append("create schema if not exists ")
                    .append(SqlIdentifier.quote(schema))
                    .append(";\n\n");
        }
        files(owner, location).tailMap(after, false).values().forEach(text -> script.append(filled(text, placeholders))
                .append('\n'));
        return script.toString();
    }

    private static String filled(String text, Map<String, String> placeholders) {
        return PLACEHOLDER
                .matcher(text)
                .replaceAll(found -> Matcher.quoteReplacement(placeholders.getOrDefault(found.group(1), found.group())));
    }

    /** By version. */
    private static NavigableMap<Integer, String> files(Class<?> owner, String location) {
        try {
            Path place = Path.of(
                    owner.getProtectionDomain().getCodeSource().getLocation().toURI());
            if (Files.isDirectory(place)) {
                return filesIn(place.resolve(location));
            }
            try (FileSystem jar = FileSystems.newFileSystem(place)) {
                return filesIn(jar.getPath(location));
            }
        } catch (IOException | URISyntaxException e) {
            throw new SchemaException(
                    "The migrations " + location + " cannot be read from the jar: " + e.getMessage()
                            + ". Install the jar again",
                    e);
        }
    }

    private static NavigableMap<Integer, String> filesIn(Path folder) throws IOException {
        NavigableMap<Integer, String> texts = new TreeMap<>();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Matcher name = FILE.matcher(file.getFileName().toString());
                if (name.matches()) {
                    texts.put(Integer.valueOf(name.group(1)), Files.readString(file, StandardCharsets.UTF_8));
                }
            }
        }
        return texts;
    }
}
