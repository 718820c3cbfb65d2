package dev.twinbox.inbox.cli;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One JSON object, written member by member (RFC 8259). A member without a value is left out. */
final class JsonText {

    private final List<String> members = new ArrayList<>();

    JsonText with(String name, @Nullable Object value) {
        if (value != null) {
            boolean isLiteral = value instanceof Number || value instanceof Boolean || value instanceof JsonText;
            members.add(quote(name) + ':' + (isLiteral ? value.toString() : quote(value.toString())));
        }
        return this;
    }

    JsonText with(String name, List<JsonText> values) {
        members.add(quote(name) + ':' + values);
        return this;
    }

    @Override
    public String toString() {
        return '{' + String.join(",", members) + '}';
    }

    private static String quote(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        text.chars().forEach(c -> {
            if (c == '"' || c == '\\') {
                quoted.append('\\').append((char) c);
            } else if (c < ' ' || Character.isSurrogate((char) c)) {
                quoted.append(String.format("\\u%04x", c));
            } else {
                quoted.append((char) c);
            }
        });
        return quoted.append('"').toString();
    }
}
