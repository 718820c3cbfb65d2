package dev.twinbox.console.operator;

import jakarta.json.JsonObject;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/**
 * The payload of a parked event as it is in the table.
 *
 * @param bytes how many it has
 * @param beginning its first bytes; null: the event has no payload
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record Payload(int bytes, byte @Nullable [] beginning) {
    /** Most bytes that are shown. */
    public static final int MOST_BYTES = 64 * 1024;

    /** The payload of the event of this number, in base64, and as text if it is one. */
    public JsonObject json(long number) {
        JsonText json = new JsonText().with("number", number).with("bytes", bytes);
        byte[] shown = beginning;
        return shown == null
                ? json.build()
                : json.with("isCut", bytes > shown.length)
                        .with("base64", Base64.getEncoder().encodeToString(shown))
                        .with("text", text(shown))
                        .build();
    }

    /** These bytes as text; null if they are not UTF-8. */
    public static @Nullable String text(byte[] bytes) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException e) {
            return null;
        }
    }
}
