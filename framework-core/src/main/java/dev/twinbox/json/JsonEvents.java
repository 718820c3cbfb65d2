package dev.twinbox.json;

import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds in event classes what the default serializer would lose or could not read. JSON-B itself passes over it: an
 * object without properties is written as <code>{}</code>, and a member without a setter is ignored.
 */
public final class JsonEvents {

    private JsonEvents() {}

    /** One text for each field that would not be in the JSON of the event, those of nested classes included. */
    public static List<String> writingProblems(Class<?> event) {
        List<String> problems = new ArrayList<>();
        for (Class<?> type : mappedClasses(event)) {
            if (isHidden(type)) {
                problems.add(kind(type) + " is not public, so JSON-B cannot read its properties: make it public");
                continue;
            }
            JsonClass json = new JsonClass(type);
            for (Field field : sorted(json.fields())) {
                if (!json.isWritten(field.getName()) && !json.isLeftOut(field)) {
                    problems.add("field " + field.getName() + " of " + type.getTypeName()
                            + " has no JSON-B property, so it would be missing from the payload: add a public getter "
                            + accessor("get", field) + "(), use a record, or mark the field transient");
                }
            }
        }
        return problems;
    }

    /** What is wrong with the key's property; null: it is in the JSON of the event. */
    public static @Nullable String keyProblem(Class<?> event, String key) {
        if (!JsonClass.isMapped(event) || new JsonClass(event).isWritten(key)) {
            return null;
        }
        return "key property \"" + key + "\" of " + event.getTypeName()
                + " has no JSON-B property, so it would be missing from the payload: add a public getter, or publish"
                + " OutboxEvent.of(event).withKey(...)";
    }

    /** One text for each reason why JSON-B cannot read the event, or not all of it, nested classes included. */
    public static List<String> readingProblems(Class<?> event) {
        List<String> problems = new ArrayList<>();
        boolean isKnown = JsonClass.hasOwnMapping(event) || JsonClass.isOfPlatform(event);
        if (!isKnown && Modifier.isAbstract(event.getModifiers()) && !event.isArray() && !event.isEnum()) {
            problems.add(event.getTypeName() + " is abstract, so JSON-B cannot create one: use a class, or name its"
                    + " subclasses with @JsonbTypeInfo");
        }
        for (Class<?> type : mappedClasses(event)) {
            addCreationProblem(type, problems);
            addSettingProblems(type, problems);
        }
        return problems;
    }

    private static void addCreationProblem(Class<?> type, List<String> problems) {
        boolean hasCreator = new JsonClass(type).creator().isPresent();
        if (isHidden(type)) {
            problems.add(kind(type) + " is not public, so JSON-B cannot create one: make it public");
        } else if (!hasCreator && type.isMemberClass() && !Modifier.isStatic(type.getModifiers())) {
            problems.add(type.getTypeName() + " is an inner class, so JSON-B cannot create one: make it static");
        } else if (!hasCreator && Stream.of(type.getDeclaredConstructors()).noneMatch(JsonEvents::isForJsonB)) {
            problems.add(type.getTypeName() + " has no public or protected constructor without parameters, so JSON-B"
                    + " cannot create one: add it, mark another one with @JsonbCreator, or use a record");
        }
    }

    /** JSON-B calls the members of a class without making them accessible first. */
    private static boolean isHidden(Class<?> type) {
        return !Modifier.isPublic(type.getModifiers())
                && !new JsonClass(type).fields().isEmpty();
    }

    private static String kind(Class<?> type) {
        return (type.isRecord() ? "record " : "class ") + type.getTypeName();
    }

    private static boolean isForJsonB(Executable constructor) {
        int visible = Modifier.PUBLIC | Modifier.PROTECTED;
        return constructor.getParameterCount() == 0 && (constructor.getModifiers() & visible) != 0;
    }

    private static void addSettingProblems(Class<?> type, List<String> problems) {
        JsonClass json = new JsonClass(type);
        if (json.creator().isPresent()) {
            return; // it may set any field
        }
        for (Field field : sorted(json.fields())) {
            if (!json.isSettable(field)) {
                problems.add("field " + field.getName() + " of " + type.getTypeName()
                        + " has no setter, so JSON-B would never set it: add a public setter "
                        + accessor("set", field) + "(...), use a record, or mark the field transient");
            }
        }
    }

    private static List<Field> sorted(List<Field> fields) {
        return fields.stream()
                .sorted((a, b) -> a.getName().compareTo(b.getName()))
                .toList();
    }

    private static String accessor(String prefix, Field field) {
        String name = field.getName();
        return prefix + name.substring(0, 1).toUpperCase(Locale.ROOT) + name.substring(1);
    }

    /** The class and all classes of its fields, as far as JSON-B maps them property by property. */
    private static Set<Class<?>> mappedClasses(Class<?> event) {
        Set<Class<?>> found = new LinkedHashSet<>();
        addMapped(JavaType.of(event), new LinkedHashSet<>(), found);
        return found;
    }

    private static void addMapped(JavaType type, Set<JavaType> seen, Set<Class<?>> found) {
        if (seen.size() > JsonShapes.MOST_TYPES || !seen.add(type)) {
            return;
        }
        type.arguments().forEach(argument -> addMapped(argument, seen, found));
        if (JsonClass.isMapped(type.raw())) {
            found.add(type.raw());
            JsonClass json = new JsonClass(type.raw());
            json.fields().stream()
                    .filter(field -> !json.isLeftOut(field) && !json.isCustom(field))
                    .forEach(field -> addMapped(JavaType.of(field.getGenericType(), type.variables()), seen, found));
        }
    }
}
