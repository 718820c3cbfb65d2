package dev.twinbox.inbox.event;

import dev.twinbox.EventContext;
import dev.twinbox.EventType;
import dev.twinbox.InboxHandler;
import dev.twinbox.TopicName;
import dev.twinbox.TypeName;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a handler method declares: by its annotation, its parameters and the annotation of the event's class.
 *
 * @param shape null if its parameters are not legal
 * @param eventClass null if its parameters are not legal
 * @param topic empty if it is not known
 * @param type empty if it is not known
 * @param aliases former names of the type
 */
record HandlerDeclaration(
        @Nullable HandlerShape shape, @Nullable Class<?> eventClass, String topic, String type, Set<String> aliases) {

    static HandlerDeclaration of(Method method, InboxHandler annotation) {
        @Nullable HandlerShape shape = shape(method);
        @Nullable Class<?> eventClass = shape == null ? null : eventClass(method, shape);
        return new HandlerDeclaration(
                shape,
                eventClass,
                topic(annotation, eventClass),
                type(annotation, eventClass),
                aliases(annotation, eventClass));
    }

    /** Adds one sentence for each rule that the declaration breaks. */
    void check(String parameters, List<String> breaches) {
        if (shape == null || eventClass == null) {
            breaches.add("its parameters are (" + parameters + "), legal are (E), (E, EventContext) and (List<E>), "
                    + "where E is a class, byte[] or String");
        }
        if (aliases.stream().anyMatch(String::isBlank)) {
            breaches.add("one of its aliases is blank; name a former name of the type");
        }
        if (eventClass != null) {
            checkTopicAndType(eventClass.getSimpleName(), breaches);
        }
    }

    private static @Nullable HandlerShape shape(Method method) {
        Class<?>[] types = method.getParameterTypes();
        if (types.length == 2 && types[1] == EventContext.class) {
            return HandlerShape.EVENT_AND_CONTEXT;
        }
        if (types.length == 1) {
            return types[0] == List.class ? HandlerShape.LIST : HandlerShape.EVENT;
        }
        return null;
    }

    private static @Nullable Class<?> eventClass(Method method, HandlerShape shape) {
        Type type = method.getGenericParameterTypes()[0];
        if (shape == HandlerShape.LIST) {
            type = type instanceof ParameterizedType list ? list.getActualTypeArguments()[0] : type;
            if (type == List.class) {
                return null;
            }
        }
        if (!(type instanceof Class<?> event)) {
            return null; // a type variable or a generic class; the serializer needs a class
        }
        boolean legal = event == byte[].class
                || !(event.isPrimitive() || event.isArray() || event == EventContext.class || event == Object.class);
        return legal ? event : null;
    }

    private static String topic(InboxHandler annotation, @Nullable Class<?> eventClass) {
        EventType declared = eventClass == null ? null : eventClass.getAnnotation(EventType.class);
        return annotation.topic().isEmpty() && declared != null ? declared.topic() : annotation.topic();
    }

    private static String type(InboxHandler annotation, @Nullable Class<?> eventClass) {
        EventType declared = eventClass == null ? null : eventClass.getAnnotation(EventType.class);
        return annotation.type().isEmpty() && declared != null ? declared.value() : annotation.type();
    }

    /**
     * The aliases of the class belong to the type name of the class. A handler that names another type does not get
     * them.
     */
    private static Set<String> aliases(InboxHandler annotation, @Nullable Class<?> eventClass) {
        EventType declared = eventClass == null ? null : eventClass.getAnnotation(EventType.class);
        Set<String> aliases = new TreeSet<>(List.of(annotation.aliases()));
        if (declared != null
                && (annotation.type().isEmpty() || annotation.type().equals(declared.value()))) {
            aliases.addAll(List.of(declared.aliases()));
        }
        return aliases;
    }

    private void checkTopicAndType(String name, List<String> breaches) {
        if (topic.isEmpty()) {
            breaches.add("its topic is not known; set @InboxHandler(topic = ...), or topic on @EventType of " + name);
        } else if (!TopicName.isLegal(topic)) {
            breaches.add("\"" + topic + "\" cannot be a Kafka topic: 1 to 249 characters of a-z A-Z 0-9 . _ -");
        }
        if (type.isEmpty()) {
            breaches.add(
                    "the type of its events is not known; set @InboxHandler(type = ...), or put @EventType on " + name);
        }
        Stream.concat(Stream.of(type), aliases.stream())
                .filter(known -> !TypeName.fits(known))
                .forEach(known -> breaches.add(TypeName.tooLong(known)));
    }
}
