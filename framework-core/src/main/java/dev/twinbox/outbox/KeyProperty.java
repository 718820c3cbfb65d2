package dev.twinbox.outbox;

import dev.twinbox.InvalidEventException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Collection;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The property of an event class whose value is the record key: a record component, a getter or a field. */
final class KeyProperty {

    private static final String NO_KEY =
            ", whose text is no key: use a string, number, UUID, enum, or a class with a" + " toString() of its own";

    /** By the class of a value. A property's type may be an interface, so only its values show whether they have a text. */
    private static final ClassValue<Boolean> IS_TEXT = new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
            return hasText(type) && !isContainer(type);
        }
    };

    private final Class<?> owner;
    private final String name;
    private final MethodHandle reader;

    private KeyProperty(Class<?> owner, String name, MethodHandle reader) {
        this.owner = owner;
        this.name = name;
        this.reader = reader;
    }

    /**
     * Finds {@code name()}, {@code getName()}, {@code isName()} or the field {@code name}, in this order, inherited
     * ones included.
     *
     * @throws IllegalArgumentException if there is none, or its type cannot be a key
     */
    static KeyProperty of(Class<?> owner, String name) {
        MethodHandle reader = find(owner, name);
        if (reader == null) {
            throw new IllegalArgumentException("key property \"" + name + "\" does not exist in " + owner.getTypeName()
                    + ": name a record component, a getter or a field");
        }
        checkType(owner, name, reader.type().returnType());
        return new KeyProperty(owner, name, reader.asType(reader.type().generic()));
    }

    /**
     * The text of the value.
     *
     * @throws InvalidEventException if the value is null, or its text differs from event to event: the event would lose
     *     its order without a word
     */
    String read(Object event) {
        Object value = value(event);
        if (value == null) {
            throw new InvalidEventException("key property \"" + name + "\" of " + owner.getTypeName()
                    + " is null: set it before the event is published (a generated id may need a flush first), or"
                    + " name no key if order does not matter");
        }
        if (!IS_TEXT.get(value.getClass())) {
            throw new InvalidEventException("key property \"" + name + "\" of " + owner.getTypeName() + " is a "
                    + value.getClass().getTypeName() + NO_KEY);
        }
        return value instanceof Enum<?> constant ? constant.name() : value.toString();
    }

    private @Nullable Object value(Object event) {
        try {
            return reader.invoke(event);
        } catch (Throwable e) {
            throw new InvalidEventException(
                    "key property \"" + name + "\" of " + owner.getTypeName() + " cannot be read, mend its getter: "
                            + e,
                    e);
        }
    }

    private static @Nullable MethodHandle find(Class<?> owner, String name) {
        String capitalized = name.isEmpty() ? "" : name.substring(0, 1).toUpperCase(Locale.ROOT) + name.substring(1);
        for (String getter : new String[] {name, "get" + capitalized, "is" + capitalized}) {
            Optional<MethodHandle> found = getter(owner, getter);
            if (found.isPresent()) {
                return found.get();
            }
        }
        return field(owner, name);
    }

    private static Optional<MethodHandle> getter(Class<?> owner, String name) {
        for (Class<?> type = owner; type != null && type != Object.class; type = type.getSuperclass()) {
            for (Method method : type.getDeclaredMethods()) {
                if (method.getName().equals(name) && isGetter(method)) {
                    return Optional.of(unreflect(method));
                }
            }
        }
        for (Method method : owner.getMethods()) { // default methods of interfaces
            if (method.getName().equals(name) && isGetter(method) && method.getDeclaringClass() != Object.class) {
                return Optional.of(unreflect(method));
            }
        }
        return Optional.empty();
    }

    private static boolean isGetter(Method method) {
        return method.getParameterCount() == 0
                && method.getReturnType() != void.class
                && !Modifier.isStatic(method.getModifiers())
                && !method.isBridge();
    }

    private static @Nullable MethodHandle field(Class<?> owner, String name) {
        for (Class<?> type = owner; type != null && type != Object.class; type = type.getSuperclass()) {
            for (Field field : type.getDeclaredFields()) {
                if (field.getName().equals(name) && !Modifier.isStatic(field.getModifiers())) {
                    return unreflect(field);
                }
            }
        }
        return null;
    }

    private static MethodHandle unreflect(Method method) {
        try {
            method.setAccessible(true);
            return MethodHandles.lookup().unreflect(method);
        } catch (IllegalAccessException | RuntimeException e) {
            throw new IllegalArgumentException("key property " + method + " cannot be read: make it public", e);
        }
    }

    private static MethodHandle unreflect(Field field) {
        try {
            field.setAccessible(true);
            return MethodHandles.lookup().unreflectGetter(field);
        } catch (IllegalAccessException | RuntimeException e) {
            throw new IllegalArgumentException("key property " + field + " cannot be read: make it public", e);
        }
    }

    private static void checkType(Class<?> owner, String name, Class<?> type) {
        if (isContainer(type) || !(type.isInterface() || hasText(type))) {
            throw new IllegalArgumentException(
                    "key property \"" + name + "\" of " + owner.getTypeName() + " is a " + type.getTypeName() + NO_KEY);
        }
    }

    /** A class that prints as Name@1b2c3d would give each event another key. */
    private static boolean hasText(Class<?> type) {
        return type.isPrimitive() || type.isEnum() || overridesToString(type);
    }

    private static boolean isContainer(Class<?> type) {
        return type.isArray()
                || Collection.class.isAssignableFrom(type)
                || Map.class.isAssignableFrom(type)
                || Optional.class.isAssignableFrom(type);
    }

    private static boolean overridesToString(Class<?> type) {
        try {
            return type.getMethod("toString").getDeclaringClass() != Object.class;
        } catch (NoSuchMethodException e) {
            throw new IllegalStateException(e);
        }
    }
}
