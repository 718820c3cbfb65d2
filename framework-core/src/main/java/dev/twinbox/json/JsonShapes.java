package dev.twinbox.json;

import dev.twinbox.TwinboxException;
import dev.twinbox.thread.ContextClassLoader;
import jakarta.json.spi.JsonProvider;
import jakarta.json.stream.JsonParser;
import java.io.StringReader;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Compares the JSON of events with their classes before JSON-B reads it. JSON-B leaves an absent primitive at 0 and
 * cuts a number that is too large, both without a word.
 */
final class JsonShapes {

    /** A generic class can lead to types without end. */
    static final int MOST_TYPES = 1000;

    private static final JsonProvider PROVIDER = ContextClassLoader.call(JsonShapes.class, JsonProvider::provider);

    private final Map<Class<?>, Optional<JsonShape>> byClass = new ConcurrentHashMap<>();

    /** @throws TwinboxException with the name of the member that does not fit, or if the JSON is malformed */
    void check(String json, Class<?> type) {
        check(json, byClass.computeIfAbsent(type, JsonShapes::compiled).orElse(JsonShape.ANY));
    }

    /**
     * Refuses JSON that is malformed. Yasson with Parsson may never return from reading a text that is cut off: Parsson's
     * {@code skipArray} and {@code skipObject} do not notice the end.
     *
     * <p><b>Remedy.</b> Correct its producer.
     */
    void requireWellFormed(String json) {
        check(json, JsonShape.ANY);
    }

    private static void check(String json, JsonShape shape) {
        try (JsonParser parser = PROVIDER.createParser(new StringReader(json))) {
            if (parser.hasNext()) {
                shape.check(parser, parser.next());
            }
        } catch (JsonShape.MismatchException e) {
            throw new TwinboxException(
                    "member " + e.path() + " " + e.getMessage()
                            + "; correct its producer, declare another type, or read leniently by @InboxHandler(reading = LENIENT)");
        } catch (RuntimeException e) {
            throw new TwinboxException("its JSON is malformed; correct its producer", e);
        }
    }

    /** Empty if any JSON would do. */
    private static Optional<JsonShape> compiled(Class<?> type) {
        Compilation compilation = new Compilation();
        JsonShape shape = compilation.shape(JavaType.of(type));
        return compilation.demands ? Optional.of(shape) : Optional.empty();
    }

    private static final class Compilation {
        private final Map<JavaType, JsonShape.OfObject> objects = new HashMap<>();
        private boolean demands;

        JsonShape shape(JavaType type) {
            Class<?> raw = type.raw();
            JsonShape scalar = JsonScalar.of(raw);
            if (scalar != null) {
                demands = true;
                return scalar;
            }
            if (raw.isArray()
                    || (Collection.class.isAssignableFrom(raw)
                            && type.arguments().size() == 1)) {
                return new JsonShape.OfArray(shape(type.arguments().get(0)));
            }
            if (raw == Optional.class && type.arguments().size() == 1) {
                return shape(type.arguments().get(0));
            }
            if (Map.class.isAssignableFrom(raw) && type.arguments().size() == 2) {
                return new JsonShape.OfMap(shape(type.arguments().get(1)));
            }
            return JsonClass.isMapped(raw) && objects.size() < MOST_TYPES ? object(type) : JsonShape.ANY;
        }

        private JsonShape object(JavaType type) {
            JsonShape.OfObject known = objects.get(type);
            if (known != null) {
                return known;
            }
            JsonShape.OfObject object = new JsonShape.OfObject();
            objects.put(type, object);
            for (JsonMember member : new JsonClass(type.raw()).read(type.variables())) {
                boolean isRequired = member.type().raw().isPrimitive();
                demands |= isRequired;
                JsonShape value = member.custom() ? JsonShape.ANY : shape(member.type());
                if (isRequired) {
                    object.require(member.name(), value);
                } else {
                    object.allow(member.name(), value);
                }
            }
            return object;
        }
    }
}
