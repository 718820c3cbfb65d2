package dev.twinbox.console.operator;

import dev.twinbox.console.Json;
import jakarta.json.JsonArrayBuilder;
import jakarta.json.JsonObject;
import jakarta.json.JsonObjectBuilder;
import jakarta.json.JsonValue;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/** One JSON object, made member by member. A member without a value is left out. */
public final class JsonText {
    private final JsonObjectBuilder members = Json.createObjectBuilder();

    /** With one member more: a number, a truth value, JSON, or the text of anything else. */
    public JsonText with(String name, @Nullable Object value) {
        if (value != null) {
            members.add(name, json(value));
        }
        return this;
    }

    private static JsonValue json(Object value) {
        if (value instanceof JsonValue json) {
            return json;
        } else if (value instanceof JsonText text) {
            return text.build();
        } else if (value instanceof Collection<?> several) {
            JsonArrayBuilder array = Json.createArrayBuilder();
            several.forEach(each -> array.add(json(each)));
            return array.build();
        } else if (value instanceof Boolean flag) {
            return flag ? JsonValue.TRUE : JsonValue.FALSE;
        } else if (value instanceof Double number) {
            return Json.createValue(number);
        } else if (value instanceof Number number) {
            return Json.createValue(number.longValue());
        }
        return Json.createValue(value.toString());
    }

    /** The object. */
    public JsonObject build() {
        return members.build();
    }
}
