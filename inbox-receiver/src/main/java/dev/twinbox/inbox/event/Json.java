package dev.twinbox.inbox.event;

import dev.twinbox.thread.ContextClassLoader;
import jakarta.json.JsonReader;
import jakarta.json.JsonString;
import jakarta.json.JsonValue;
import jakarta.json.spi.JsonProvider;
import java.io.StringReader;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/** Reads the JSON that contains ids. It is strict, because a lenient reader could make two ids equal. */
final class Json {

    /** Looked up once; {@link jakarta.json.Json} would look it up in each call. */
    static final JsonProvider PROVIDER = ContextClassLoader.call(Json.class, JsonProvider::provider);

    private Json() {}

    /** @throws UnreadableRecordException if it is not valid JSON; the message says why */
    static JsonValue parse(byte[] value) {
        String text;
        try {
            text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(value))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new UnreadableRecordException("its value is not UTF-8", e);
        }
        try (JsonReader reader = PROVIDER.createReader(new StringReader(text))) {
            return reader.readValue();
        } catch (RuntimeException e) { // parsers have limits and report them by other exceptions than JsonException
            throw new UnreadableRecordException("its value of " + value.length + " bytes is not JSON", e);
        } catch (StackOverflowError e) {
            throw new UnreadableRecordException("its value is JSON that is nested too deeply to be read", e);
        }
    }

    /** @throws UnreadableRecordException if it has a lone surrogate, which UTF-8 cannot encode */
    static byte[] utf8(String text) {
        try {
            ByteBuffer bytes = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
            byte[] data = new byte[bytes.remaining()];
            bytes.get(data);
            return data;
        } catch (CharacterCodingException e) {
            throw new UnreadableRecordException("its value has a lone surrogate", e);
        }
    }

    /** Decodes a string in Base64. Messages name it by {@code place}. */
    static byte[] base64(JsonValue value, String place) {
        try {
            if (value instanceof JsonString text) {
                return Base64.getDecoder().decode(text.getString());
            }
        } catch (IllegalArgumentException e) {
            throw new UnreadableRecordException("its " + place + " is not Base64", e);
        }
        throw new UnreadableRecordException("its " + place + " is not a string");
    }
}
