package dev.twinbox.json;

import jakarta.json.bind.annotation.JsonbNumberFormat;
import jakarta.json.bind.annotation.JsonbTypeAdapter;
import jakarta.json.bind.annotation.JsonbTypeDeserializer;
import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A member of a JSON object that JSON-B reads into a property.
 *
 * @param name its name in JSON
 * @param custom whether annotations replace the default mapping of its value
 */
record JsonMember(String name, JavaType type, boolean custom) {

    private static final List<Class<? extends Annotation>> OWN_MAPPING =
            List.of(JsonbTypeAdapter.class, JsonbTypeDeserializer.class, JsonbNumberFormat.class);

    /** @param places where its annotations may be, the most important first */
    static JsonMember of(String name, JavaType type, boolean formatted, @Nullable AnnotatedElement... places) {
        String named = Stream.of(places)
                .filter(Objects::nonNull)
                .map(JsonAnnotations::namedBy)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(name);
        boolean custom = formatted
                || Stream.of(places)
                        .filter(Objects::nonNull)
                        .anyMatch(place -> OWN_MAPPING.stream().anyMatch(a -> JsonAnnotations.find(place, a) != null));
        return new JsonMember(named, type, custom);
    }
}
