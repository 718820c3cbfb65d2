package dev.twinbox.json;

import dev.twinbox.EventSerializer;
import dev.twinbox.TwinboxException;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.json.bind.Jsonb;
import jakarta.json.bind.JsonbBuilder;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** Events as JSON in UTF-8, by the server's JSON-B in its default mapping. */
@ApplicationScoped
class JsonbSerializer implements EventSerializer {

    private final Jsonb jsonb = JsonbBuilder.create();

    @Override
    public String contentType() {
        return "application/json";
    }

    @Override
    public byte[] serialize(Object event) {
        String json = jsonb.toJson(event);
        try {
            // Not String.getBytes: that would write a lone surrogate as '?' without a word.
            ByteBuffer bytes = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(json));
            byte[] data = new byte[bytes.remaining()];
            bytes.get(data);
            return data;
        } catch (CharacterCodingException e) {
            throw new TwinboxException("its JSON contains a lone surrogate, which UTF-8 can not write", e);
        }
    }

    @Override
    public <T> T deserialize(byte[] data, Class<T> type) {
        return jsonb.fromJson(new String(data, StandardCharsets.UTF_8), type);
    }
}
