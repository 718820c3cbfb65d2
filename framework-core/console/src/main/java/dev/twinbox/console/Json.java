package dev.twinbox.console;

import jakarta.json.JsonArrayBuilder;
import jakarta.json.JsonNumber;
import jakarta.json.JsonObjectBuilder;
import jakarta.json.JsonReader;
import jakarta.json.JsonString;
import jakarta.json.spi.JsonProvider;
import jakarta.json.stream.JsonParser;
import java.io.InputStream;
import java.io.Reader;
import java.util.Collection;

/**
 * The methods of {@link jakarta.json.Json} that are used here. That class looks for the implementation in each call,
 * which opens the jar and takes a tenth of a millisecond. A list of 1,000 parked events took 600 ms so.
 */
public final class Json {
    private static final JsonProvider PROVIDER = JsonProvider.provider();

    private Json() {}

    public static JsonObjectBuilder createObjectBuilder() {
        return PROVIDER.createObjectBuilder();
    }

    public static JsonArrayBuilder createArrayBuilder() {
        return PROVIDER.createArrayBuilder();
    }

    public static JsonArrayBuilder createArrayBuilder(Collection<?> elements) {
        return PROVIDER.createArrayBuilder(elements);
    }

    public static JsonString createValue(String value) {
        return PROVIDER.createValue(value);
    }

    public static JsonNumber createValue(long value) {
        return PROVIDER.createValue(value);
    }

    public static JsonNumber createValue(double value) {
        return PROVIDER.createValue(value);
    }

    public static JsonReader createReader(InputStream in) {
        return PROVIDER.createReader(in);
    }

    public static JsonParser createParser(Reader reader) {
        return PROVIDER.createParser(reader);
    }
}
