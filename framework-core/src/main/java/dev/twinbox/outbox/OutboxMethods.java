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

/** The {@link Outbox} annotations of the application's methods, looked up once for each method. */
@ApplicationScoped
class OutboxMethods {

    private record KeyOf(Class<?> eventClass, String property) {}

    private final Map<Method, Optional<Outbox>> annotations = new ConcurrentHashMap<>();
    private final Map<KeyOf, KeyProperty> keys = new ConcurrentHashMap<>();

    /**
     * Completes an event by the method's annotation. What an {@link OutboxEvent} has itself stays.
     *
     * @param bean class of the intercepted bean
     */
    Object complete(Class<?> bean, Method method, @Nullable Object event) {
        Outbox outbox = annotations
                .computeIfAbsent(method, m -> Optional.ofNullable(find(bean, m)))
                .orElse(null);
        if (event == null) {
            throw new InvalidEventException("an element is null: leave it out");
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

    /** The method's own annotation wins over that of its class (CDI 4.0, "Interceptor resolution"). */
    private static @Nullable Outbox find(Class<?> bean, Method method) {
        Outbox onMethod = method.getAnnotation(Outbox.class);
        if (onMethod != null) {
            return onMethod;
        }
        // The target may be a proxy: its superclasses are the bean's classes.
        for (Class<?> type = bean; type != null; type = type.getSuperclass()) {
            Outbox onClass = type.getAnnotation(Outbox.class);
            if (onClass != null) {
                return onClass;
            }
        }
        return null;
    }
}
