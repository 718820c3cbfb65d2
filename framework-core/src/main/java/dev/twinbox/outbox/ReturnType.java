package dev.twinbox.outbox;

import dev.twinbox.OutboxEvent;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.stream.BaseStream;
import java.util.stream.Stream;

/**
 * What a method returns, as far as its signature shows.
 *
 * @param eventClass the event, or the element of the collection; {@code Object} where the signature does not show it
 */
record ReturnType(Shape shape, Class<?> eventClass) {

    enum Shape {
        /** An event class, alone or in a collection. */
        EVENT,
        /** {@link OutboxEvent}, alone or in a collection. */
        COMPLETE,
        UNSUPPORTED
    }

    static ReturnType of(Type type) {
        Class<?> raw = raw(type);
        if (raw == Optional.class || raw == Stream.class || Collection.class.isAssignableFrom(raw)) {
            return ofEvent(raw(element(type)));
        }
        return ofEvent(raw);
    }

    /**
     * The classes whose annotations count: the class itself, or the permitted subclasses of a sealed type. None where
     * only the object shows its class, as for an interface.
     */
    static List<Class<?>> concreteClasses(Class<?> type) {
        if (type.isSealed()) {
            return List.of(type.getPermittedSubclasses()).stream()
                    .flatMap(permitted -> concreteClasses(permitted).stream())
                    .toList();
        }
        boolean open = type.isInterface() || Modifier.isAbstract(type.getModifiers()) || type == Object.class;
        return open && !type.isArray() ? List.of() : List.of(type);
    }

    private static ReturnType ofEvent(Class<?> type) {
        if (type == OutboxEvent.class) {
            return new ReturnType(Shape.COMPLETE, type);
        }
        return new ReturnType(isEvent(type) ? Shape.EVENT : Shape.UNSUPPORTED, type);
    }

    /** False for types that are returned for another purpose, and are no event in any model. */
    private static boolean isEvent(Class<?> type) {
        return type == byte[].class
                || !(type.isPrimitive()
                        || type == Void.class
                        || type.isArray()
                        || type.isEnum()
                        || type == Boolean.class
                        || type == Character.class
                        || Number.class.isAssignableFrom(type)
                        || CharSequence.class.isAssignableFrom(type)
                        || Map.class.isAssignableFrom(type)
                        || Optional.class.isAssignableFrom(type)
                        || Iterable.class == type
                        || Collection.class.isAssignableFrom(type)
                        || BaseStream.class.isAssignableFrom(type)
                        || Future.class.isAssignableFrom(type)
                        || CompletionStage.class.isAssignableFrom(type));
    }

    private static Type element(Type type) {
        if (type instanceof ParameterizedType parameterized && parameterized.getActualTypeArguments().length == 1) {
            return parameterized.getActualTypeArguments()[0];
        }
        return Object.class;
    }

    private static Class<?> raw(Type type) {
        if (type instanceof Class<?> c) {
            return c;
        }
        if (type instanceof ParameterizedType parameterized) {
            return raw(parameterized.getRawType());
        }
        if (type instanceof WildcardType wildcard) {
            return raw(wildcard.getUpperBounds()[0]);
        }
        if (type instanceof TypeVariable<?> variable) {
            return raw(variable.getBounds()[0]);
        }
        return Object[].class; // a generic array
    }
}
