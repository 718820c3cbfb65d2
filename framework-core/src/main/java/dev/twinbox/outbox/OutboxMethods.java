package dev.twinbox.outbox;

import dev.twinbox.InvalidEventException;
import dev.twinbox.Outbox;
import dev.twinbox.OutboxEvent;
import jakarta.enterprise.context.ApplicationScoped;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** What the {@link Outbox} annotations of the application's methods say, looked up once for each. */
@ApplicationScoped
class OutboxMethods {

    private record KeyOf(Class<?> eventClass, String property) {}

    private final Map<Method, Optional<Outbox>> annotations = new ConcurrentHashMap<>();
    private final Map<KeyOf, KeyProperty> keys = new ConcurrentHashMap<>();

    /**
     * The event with what the method's annotation adds to it; what an {@link OutboxEvent} says itself stays.
     *
     * @param bean class of the intercepted bean
     */
    Object complete(Class<?> bean, Method method, @Nullable Object event) {
        Outbox outbox = annotations
                .computeIfAbsent(method, m -> Optional.ofNullable(find(bean, m)))
                .orElse(null);
        if (event == null) {
            throw new InvalidEventException("an element is null");
        }
        if (outbox == null) {
            return event;
        }
        OutboxEvent complete = event instanceof OutboxEvent outboxEvent ? outboxEvent : OutboxEvent.of(event);
        if (complete.topic() == null && !outbox.topic().isEmpty()) {
            complete = complete.withTopic(outbox.topic());
        }
        if (complete.type() == null && !outbox.type().isEmpty()) {
            complete = complete.withType(outbox.type());
        }
        Object payload = complete.payload();
        if (complete.key() == null && !outbox.key().isEmpty() && payload != null) {
            complete = complete.withKey(key(payload.getClass(), outbox.key()).read(payload));
        }
        return complete;
    }

    private KeyProperty key(Class<?> eventClass, String property) {
        try {
            return keys.computeIfAbsent(new KeyOf(eventClass, property), k -> KeyProperty.of(eventClass, property));
        } catch (IllegalArgumentException e) {
            throw new InvalidEventException(String.valueOf(e.getMessage()), e);
        }
    }

    /** The method's own annotation goes before that of its class (CDI 4.0, "Interceptor resolution"). */
    private static @Nullable Outbox find(Class<?> bean, Method method) {
        Outbox onMethod = method.getAnnotation(Outbox.class);
        if (onMethod != null) {
            return onMethod;
        }
        // Of the bean's own class, not of its proxy's: interceptor bindings are inherited only where the annotation is.
        for (Class<?> type = bean; type != null; type = type.getSuperclass()) {
            Outbox onClass = type.getAnnotation(Outbox.class);
            if (onClass != null) {
                return onClass;
            }
        }
        return null;
    }
}
