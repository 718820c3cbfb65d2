package dev.twinbox.json;

import jakarta.json.bind.annotation.JsonbAnnotation;
import jakarta.json.bind.annotation.JsonbProperty;
import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import org.jspecify.annotations.Nullable;

/** The annotations of JSON-B on a class or one of its members. */
final class JsonAnnotations {

    private JsonAnnotations() {}

    /** The annotation itself, or one of an annotation that bundles several. */
    static <A extends Annotation> @Nullable A find(AnnotatedElement element, Class<A> annotation) {
        A direct = element.getAnnotation(annotation);
        if (direct != null) {
            return direct;
        }
        for (Annotation bundle : element.getAnnotations()) {
            Class<? extends Annotation> type = bundle.annotationType();
            if (type.isAnnotationPresent(JsonbAnnotation.class) && type.isAnnotationPresent(annotation)) {
                return type.getAnnotation(annotation);
            }
        }
        return null;
    }

    /** The name in JSON that annotations give; null: the name in Java. */
    static @Nullable String namedBy(AnnotatedElement element) {
        JsonbProperty property = find(element, JsonbProperty.class);
        return property == null || property.value().isEmpty() ? null : property.value();
    }
}
