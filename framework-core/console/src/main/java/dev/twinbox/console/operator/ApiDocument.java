package dev.twinbox.console.operator;

import dev.twinbox.console.Json;
import jakarta.json.JsonObject;
import jakarta.json.JsonReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** The description of an API in OpenAPI 3.1. */
public final class ApiDocument {
    /** Its name, in the jar and in the address. */
    public static final String NAME = "openapi.json";

    private ApiDocument() {}

    /**
     * Reads the document.
     *
     * @param neighbour the file is beside this class in the jar
     */
    public static JsonObject read(Class<?> neighbour) {
        try (InputStream in = neighbour.getResourceAsStream(NAME)) {
            if (in == null) {
                throw new IllegalStateException(NAME + " is not in the jar; report it");
            }
            try (JsonReader reader = Json.createReader(in)) {
                return reader.readObject();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
