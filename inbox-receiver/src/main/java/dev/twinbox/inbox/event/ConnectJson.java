package dev.twinbox.inbox.event;

import jakarta.json.JsonObject;
import jakarta.json.JsonString;
import jakarta.json.JsonValue;
import org.jspecify.annotations.Nullable;

/** The format in which Kafka Connect's {@code JsonConverter} wraps a value, a key or a header. */
final class ConnectJson {

    private ConnectJson() {}

    /**
     * Returns the value without its wrapping. The converter writes text as a JSON string. By default ({@code
     * schemas.enable}) it wraps the value and its schema in an object. Debezium's outbox router does the same with a
     * payload that it does not expand.
     */
    static byte @Nullable [] unwrap(byte @Nullable [] value) {
        if (value == null) {
            return null;
        }
        JsonValue json = Json.parse(value);
        if (!(json instanceof JsonObject object && isEnvelope(object))) {
            return json instanceof JsonString text ? Json.utf8(text.getString()) : nullOr(json, value);
        }
        JsonValue payload = object.getOrDefault("payload", JsonValue.NULL);
        if (payload instanceof JsonString text) {
            return isOfBytes(object.get("schema")) ? Json.base64(payload, "payload") : Json.utf8(text.getString());
        }
        return payload == JsonValue.NULL ? null : Json.utf8(payload.toString());
    }

    /** As {@link #unwrap}, but text that another converter has written stays as it is. */
    static byte @Nullable [] unwrapText(byte @Nullable [] text) {
        if (text == null || text.length == 0 || (text[0] != '"' && text[0] != '{')) {
            return text; // most are plain
        }
        try {
            return unwrap(text);
        } catch (UnreadableRecordException e) {
            return text;
        }
    }

    /** Whether the text is a JSON string, or the object with which the converter wraps one. */
    static boolean isWrapped(String text) {
        if (!text.startsWith("\"") && !text.startsWith("{")) {
            return false;
        }
        try {
            JsonValue json = Json.parse(Json.utf8(text));
            return json instanceof JsonString || (json instanceof JsonObject object && isEnvelope(object));
        } catch (UnreadableRecordException e) {
            return false;
        }
    }

    private static byte @Nullable [] nullOr(JsonValue json, byte[] value) {
        return json == JsonValue.NULL ? null : value;
    }

    private static boolean isEnvelope(JsonObject object) {
        return object.size() == 2 && object.containsKey("schema") && object.containsKey("payload");
    }

    private static boolean isOfBytes(@Nullable JsonValue schema) {
        return schema instanceof JsonObject object
                && object.get("type") instanceof JsonString type
                && type.getString().equals("bytes");
    }
}
