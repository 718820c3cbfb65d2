package dev.twinbox.outbox;

import dev.twinbox.EventType;
import org.jspecify.annotations.Nullable;

/** The {@link EventType} of an event class, read once. All parts are null for a class without it. */
record EventClass(
        Class<?> type,
        @Nullable String logicalName,
        @Nullable String topic,
        @Nullable KeyProperty key) {

    /** @throws IllegalArgumentException if the key names a property that does not exist or cannot be a key */
    static EventClass of(Class<?> type) {
        EventType annotation = type.getAnnotation(EventType.class);
        if (annotation == null) {
            return new EventClass(type, null, null, null);
        }
        String key = annotation.key();
        return new EventClass(
                type,
                annotation.value(),
                annotation.topic().isEmpty() ? null : annotation.topic(),
                key.isEmpty() ? null : KeyProperty.of(type, key));
    }
}
