package dev.twinbox.json;

import jakarta.json.bind.annotation.JsonbCreator;
import jakarta.json.bind.annotation.JsonbNumberFormat;
import jakarta.json.bind.annotation.JsonbTransient;
import jakarta.json.bind.annotation.JsonbTypeAdapter;
import jakarta.json.bind.annotation.JsonbTypeDeserializer;
import jakarta.json.bind.annotation.JsonbTypeInfo;
import jakarta.json.bind.annotation.JsonbTypeSerializer;
import jakarta.json.bind.annotation.JsonbVisibility;
import java.lang.annotation.Annotation;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.TypeVariable;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * An event class as JSON-B sees it in its default mapping (Jakarta JSON Binding 3.0, chapters 3 and 4): its fields,
 * getters, setters and what creates it.
 */
final class JsonClass {

    private static final List<Class<? extends Annotation>> OWN_MAPPING = List.of(
            JsonbTypeAdapter.class,
            JsonbTypeSerializer.class,
            JsonbTypeDeserializer.class,
            JsonbVisibility.class,
            JsonbTypeInfo.class);

    private static final List<Class<? extends Annotation>> VALUE_MAPPING =
            List.of(JsonbTypeAdapter.class, JsonbTypeSerializer.class, JsonbTypeDeserializer.class);

    private final Class<?> type;
    private final Map<String, Field> fields = new HashMap<>();
    private final Map<String, Method> getters = new HashMap<>();
    private final Map<String, Method> setters = new HashMap<>();

    JsonClass(Class<?> type) {
        this.type = type;
        for (Class<?> declaring = type; declaring != null; declaring = declaring.getSuperclass()) {
            for (Field field : declaring.getDeclaredFields()) {
                if (isState(field)) {
                    fields.putIfAbsent(field.getName(), field);
                }
            }
        }
        for (Method method : type.getMethods()) {
            noteAccessor(method);
        }
    }

    /** Whether JSON-B maps it property by property, in a way that this class knows. */
    static boolean isMapped(Class<?> type) {
        return !(type.isPrimitive()
                        || type.isArray()
                        || type.isEnum()
                        || type.isInterface()
                        || Modifier.isAbstract(type.getModifiers())
                        || Collection.class.isAssignableFrom(type)
                        || Map.class.isAssignableFrom(type)
                        || isOfPlatform(type))
                && !hasOwnMapping(type);
    }

    static boolean isOfPlatform(Class<?> type) {
        return Stream.of("java.", "javax.", "jakarta.", "jdk.", "sun.").anyMatch(type.getName()::startsWith);
    }

    /** Whether annotations give it, its package or one of its supertypes another mapping. */
    static boolean hasOwnMapping(Class<?> type) {
        if (OWN_MAPPING.stream().anyMatch(annotation -> JsonAnnotations.find(type, annotation) != null)
                || (type.getPackage() != null
                        && JsonAnnotations.find(type.getPackage(), JsonbVisibility.class) != null)) {
            return true;
        }
        Class<?> parent = type.getSuperclass();
        return (parent != null && hasOwnMapping(parent))
                || Stream.of(type.getInterfaces()).anyMatch(JsonClass::hasOwnMapping);
    }

    /** What tools weave into a class is not its state. */
    private static boolean isState(Field field) {
        return !Modifier.isStatic(field.getModifiers())
                && !Modifier.isTransient(field.getModifiers())
                && !field.isSynthetic()
                && field.getName().indexOf('$') < 0
                && !field.getName().startsWith("_persistence_");
    }

    private void noteAccessor(Method method) {
        String name = method.getName();
        if (Modifier.isStatic(method.getModifiers())
                || method.isBridge()
                || method.getDeclaringClass() == Object.class) {
            return;
        }
        if (method.getParameterCount() == 1 && name.startsWith("set") && name.length() > 3) {
            setters.put(property(name, 3), method);
        } else if (method.getParameterCount() == 0 && method.getReturnType() != void.class) {
            if (name.startsWith("get") && name.length() > 3) {
                getters.put(property(name, 3), method);
            } else if (name.startsWith("is") && name.length() > 2) {
                getters.put(property(name, 2), method);
            }
            if (type.isRecord() && fields.containsKey(name)) {
                getters.put(name, method);
            }
        }
    }

    private static String property(String method, int prefix) {
        return method.substring(prefix, prefix + 1).toLowerCase(Locale.ROOT) + method.substring(prefix + 1);
    }

    /** The fields that hold its state, inherited ones included, without those of {@link JsonbTransient}. */
    List<Field> fields() {
        return fields.values().stream()
                .filter(field -> JsonAnnotations.find(field, JsonbTransient.class) == null)
                .toList();
    }

    /** Whether the field, or the property of this name, gets into the JSON. */
    boolean isWritten(String name) {
        Field field = fields.get(name);
        Method getter = accessor(getters, name);
        return isVisible(field, getter) || (getter == null && field != null && Modifier.isPublic(field.getModifiers()));
    }

    private static boolean isVisible(@Nullable Field field, @Nullable Method getter) {
        return getter != null
                && JsonAnnotations.find(getter, JsonbTransient.class) == null
                && (field == null || JsonAnnotations.find(field, JsonbTransient.class) == null);
    }

    /** Whether the owner has told JSON-B to leave the field out. */
    boolean isLeftOut(Field field) {
        Method getter = accessor(getters, field.getName());
        return getter != null && JsonAnnotations.find(getter, JsonbTransient.class) != null;
    }

    /** Whether the field can be set by a member of the JSON. A final field is set by the class itself. */
    boolean isSettable(Field field) {
        Method setter = accessor(setters, field.getName());
        return setter != null || Modifier.isFinal(field.getModifiers()) || Modifier.isPublic(field.getModifiers());
    }

    /** Whether annotations replace the default mapping of the field's value. */
    boolean isCustom(Field field) {
        return Stream.of(field, accessor(getters, field.getName()), accessor(setters, field.getName()))
                .filter(Objects::nonNull)
                .anyMatch(place ->
                        VALUE_MAPPING.stream().anyMatch(annotation -> JsonAnnotations.find(place, annotation) != null));
    }

    /** The accessor of a field. A field {@code isOpen} may have the getter {@code isOpen()}. */
    private static @Nullable Method accessor(Map<String, Method> accessors, String name) {
        Method found = accessors.get(name);
        if (found == null && !name.isEmpty()) {
            found = accessors.get(property(name, 0));
        }
        if (found == null && name.startsWith("is") && name.length() > 2) {
            found = accessors.get(property(name, 2));
        }
        return found;
    }

    /** The constructor or factory method that JSON-B calls; empty: the constructor without parameters. */
    Optional<Executable> creator() {
        Optional<Executable> marked = Stream.concat(
                        Stream.of(type.getDeclaredConstructors()), Stream.of(type.getDeclaredMethods()))
                .filter(executable -> JsonAnnotations.find(executable, JsonbCreator.class) != null)
                .findFirst();
        return marked.isPresent() || !type.isRecord() ? marked : Optional.of(canonicalConstructor());
    }

    private Executable canonicalConstructor() {
        Class<?>[] components =
                Stream.of(type.getRecordComponents()).map(c -> c.getType()).toArray(Class<?>[]::new);
        try {
            return type.getDeclaredConstructor(components);
        } catch (NoSuchMethodException e) {
            throw new IllegalStateException("each record has a canonical constructor", e);
        }
    }

    /** The members that JSON-B reads. */
    List<JsonMember> read(Map<TypeVariable<?>, JavaType> variables) {
        List<JsonMember> members = new ArrayList<>();
        boolean formatted = JsonAnnotations.find(type, JsonbNumberFormat.class) != null
                || (type.getPackage() != null
                        && JsonAnnotations.find(type.getPackage(), JsonbNumberFormat.class) != null);
        creator().ifPresent(creator -> addParameters(creator, variables, formatted, members));
        setters.forEach((name, setter) -> {
            Field field = fields.get(name);
            if (isVisible(field, setter)) {
                JavaType of = JavaType.of(setter.getGenericParameterTypes()[0], variables);
                members.add(JsonMember.of(name, of, formatted, setter, field));
            }
        });
        fields.forEach((name, field) -> {
            boolean direct = Modifier.isPublic(field.getModifiers()) && !Modifier.isFinal(field.getModifiers());
            if (direct && !setters.containsKey(name) && JsonAnnotations.find(field, JsonbTransient.class) == null) {
                members.add(JsonMember.of(name, JavaType.of(field.getGenericType(), variables), formatted, field));
            }
        });
        return members;
    }

    private void addParameters(
            Executable creator, Map<TypeVariable<?>, JavaType> variables, boolean formatted, List<JsonMember> members) {
        boolean ofComponents = type.isRecord() && JsonAnnotations.find(creator, JsonbCreator.class) == null;
        for (int i = 0; i < creator.getParameterCount(); i++) {
            String name = ofComponents ? type.getRecordComponents()[i].getName() : creator.getParameters()[i].getName();
            JavaType of = JavaType.of(creator.getGenericParameterTypes()[i], variables);
            Field field = ofComponents ? fields.get(name) : null;
            Method accessor = ofComponents ? getters.get(name) : null;
            if (field == null || JsonAnnotations.find(field, JsonbTransient.class) == null) {
                members.add(JsonMember.of(name, of, formatted, creator.getParameters()[i], accessor, field));
            }
        }
    }
}
