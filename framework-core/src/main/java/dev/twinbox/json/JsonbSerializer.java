package dev.twinbox.json;

import dev.twinbox.EventReading;
import dev.twinbox.EventSerializer;
import dev.twinbox.TwinboxException;
import dev.twinbox.thread.ContextClassLoader;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.json.bind.Jsonb;
import jakarta.json.bind.JsonbBuilder;
import jakarta.json.bind.JsonbException;
import jakarta.json.bind.annotation.JsonbCreator;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * Events as JSON in UTF-8, by the server's JSON-B in its default mapping.
 *
 * <p>Yasson's support of records is in the multi-release part of its jar. Payara Micro sees that part when it is
 * started by {@code java -jar}. When a program starts it through its API, it loads nested jars and does not see it.
 * Without it a record is written as <code>{}</code> and cannot be read. Both are refused here.
 */
@ApplicationScoped
class JsonbSerializer implements EventSerializer {

    /** JSON-B writes it as {@code {"seen":true}} if it knows records. Public, or JSON-B cannot read it. */
    public record Probe(boolean seen) {}

    private static final char REPLACEMENT = '\uFFFD';

    private final Jsonb jsonb = ContextClassLoader.call(JsonbSerializer.class, JsonbBuilder::create);
    private final boolean knowsRecords = knowsRecords(jsonb);
    private final JsonShapes shapes = new JsonShapes();
    private final Map<Class<?>, List<String>> writingProblems = new ConcurrentHashMap<>();

    private static final String REMEDY =
            "this server's JSON-B does not know records, because the server does not see the multi-release part of its "
                    + "own jar. On Payara Micro: start it by java -jar instead of through its API. Otherwise: use a class "
                    + "with a constructor without parameters, getters and setters. A record that is only read can have "
                    + "@JsonbCreator on its constructor and @JsonbProperty on each parameter instead";

    private static boolean knowsRecords(Jsonb jsonb) {
        try {
            return jsonb.toJson(new Probe(true)).contains("seen");
        } catch (JsonbException e) {
            return true; // it reports itself what it cannot do
        }
    }

    @Override
    public String contentType() {
        return "application/json";
    }

    @Override
    public byte[] serialize(Object event) {
        if (event instanceof Record && !knowsRecords) {
            throw new TwinboxException("record " + event.getClass().getName() + " cannot be written: " + REMEDY);
        }
        // Deployment has looked at the classes that methods declare, not at those that are published by hand.
        List<String> problems = writingProblems.computeIfAbsent(event.getClass(), JsonEvents::writingProblems);
        if (!problems.isEmpty()) {
            throw new TwinboxException(String.join("; ", problems));
        }
        String json = jsonb.toJson(event);
        try {
            // Not String.getBytes, which silently writes a lone surrogate as '?'.
            ByteBuffer bytes = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(json));
            byte[] data = new byte[bytes.remaining()];
            bytes.get(data);
            return data;
        } catch (CharacterCodingException e) {
            throw new TwinboxException("its JSON contains a lone surrogate, which UTF-8 cannot express: remove it", e);
        }
    }

    @Override
    public <T> T deserialize(byte[] data, Class<T> type) {
        return deserialize(data, type, EventReading.STRICT);
    }

    @Override
    public <T> T deserialize(byte[] data, Class<T> type, EventReading reading) {
        if (type.isRecord() && !knowsRecords && !hasCreator(type)) {
            throw new TwinboxException("record " + type.getName() + " cannot be read: " + REMEDY);
        }
        String json = text(data);
        if (reading == EventReading.STRICT) {
            shapes.check(json, type);
        } else {
            shapes.requireWellFormed(json);
        }
        return jsonb.fromJson(json, type);
    }

    /**
     * Strict: a lenient reader would replace bytes, and so silently make another text.
     *
     * <p><b>Remedy.</b> Let its producer write UTF-8.
     */
    private static String text(byte[] data) {
        String text = new String(data, StandardCharsets.UTF_8);
        if (text.indexOf(REPLACEMENT) >= 0 && !Arrays.equals(text.getBytes(StandardCharsets.UTF_8), data)) {
            throw new TwinboxException("its JSON is not UTF-8");
        }
        return text;
    }

    private static boolean hasCreator(Class<?> type) {
        return Stream.concat(Stream.of(type.getDeclaredConstructors()), Stream.of(type.getDeclaredMethods()))
                .anyMatch(creator -> creator.isAnnotationPresent(JsonbCreator.class));
    }
}
