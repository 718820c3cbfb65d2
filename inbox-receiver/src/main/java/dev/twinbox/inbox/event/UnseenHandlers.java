package dev.twinbox.inbox.event;

import dev.twinbox.InboxHandler;
import jakarta.enterprise.inject.Alternative;
import jakarta.enterprise.inject.Stereotype;
import jakarta.enterprise.inject.Vetoed;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Finds annotated methods that would never be called. They look as if they worked. */
public final class UnseenHandlers {

    private UnseenHandlers() {}

    /**
     * The problems of a class or interface with handlers that CDI has shown.
     *
     * @param beanClasses the classes of the beans with handlers
     */
    public static List<String> problems(Class<?> owner, Set<Class<?>> beanClasses) {
        boolean isInherited = !owner.isInterface() && beanClasses.stream().anyMatch(owner::isAssignableFrom);
        return isInherited || isDisabled(owner) ? List.of() : problemsOf(owner);
    }

    /**
     * The problems of a class with handlers that only the web container has shown, since it has no scope.
     *
     * @param beanClasses the classes of the beans with handlers
     */
    public static List<String> problemsWithoutCdi(Class<?> owner, Set<Class<?>> beanClasses) {
        // Interfaces of beans have been looked at, and an abstract class may be meant for others.
        return Modifier.isAbstract(owner.getModifiers()) ? List.of() : problems(owner, beanClasses);
    }

    /** Whether its developer has switched it off: as an alternative that nobody selects, or by {@code @Vetoed}. */
    private static boolean isDisabled(Class<?> owner) {
        return isAlternative(owner)
                || owner.isAnnotationPresent(Vetoed.class)
                || (owner.getPackage() != null && owner.getPackage().isAnnotationPresent(Vetoed.class));
    }

    private static boolean isAlternative(Class<?> owner) {
        return owner.isAnnotationPresent(Alternative.class)
                || Stream.of(owner.getAnnotations())
                        .map(Annotation::annotationType)
                        .filter(type -> type.isAnnotationPresent(Stereotype.class))
                        .anyMatch(type -> type.isAnnotationPresent(Alternative.class));
    }

    private static List<String> problemsOf(Class<?> owner) {
        List<String> problems = new ArrayList<>();
        for (Method method : owner.getDeclaredMethods()) {
            if (method.isAnnotationPresent(InboxHandler.class) && !method.isBridge()) {
                problems.add(describe(owner, method)
                        + (owner.isInterface()
                                ? ": annotations of an interface's methods are not inherited; annotate the method "
                                        + "of the class"
                                : ": the class is neither a CDI bean nor a session bean, so it would never be "
                                        + "called; give it a scope such as @ApplicationScoped, or @Stateless, or "
                                        + "mark it with @Vetoed if it is to be none"));
            }
        }
        return problems;
    }

    /**
     * Whether another method stands for it: a bridge method only leads to the method of the source, and an overridden
     * method to the one that overrides it. The compiler copies annotations to bridge methods.
     */
    static boolean isReplaced(Class<?> owner, Method method) {
        for (Class<?> type = owner;
                type != null && type != method.getDeclaringClass();
                type = type.getSuperclass()) {
            if (declaresHandler(type, method)) {
                return true;
            }
        }
        return method.isBridge();
    }

    private static boolean declaresHandler(Class<?> type, Method method) {
        try {
            return type.getDeclaredMethod(method.getName(), method.getParameterTypes())
                    .isAnnotationPresent(InboxHandler.class);
        } catch (NoSuchMethodException e) {
            return false;
        }
    }

    /** Class, method and parameters, as they stand in messages. */
    static String describe(Class<?> owner, Method method) {
        return owner.getName() + "." + method.getName() + "(" + parameters(method) + ")";
    }

    static String parameters(Method method) {
        return Stream.of(method.getGenericParameterTypes())
                .map(type -> type instanceof Class<?> known ? known.getSimpleName() : type.getTypeName())
                .collect(Collectors.joining(", "));
    }
}
