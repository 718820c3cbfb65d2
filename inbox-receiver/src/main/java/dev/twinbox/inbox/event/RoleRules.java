package dev.twinbox.inbox.event;

import jakarta.annotation.security.DenyAll;
import jakarta.annotation.security.PermitAll;
import jakarta.annotation.security.RolesAllowed;
import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.List;

/** Finds session beans that demand a role. The receiver's threads have no caller, so such a bean refuses every event. */
final class RoleRules {

    private static final List<Class<? extends Annotation>> REFUSING = List.of(DenyAll.class, RolesAllowed.class);

    private RoleRules() {}

    /** By the specification, an annotation of the method wins over that of the class that declares it. */
    static void check(Method method, List<String> breaches) {
        Class<?> declaring = method.getDeclaringClass();
        if (!isAnnotated(method)) {
            checkPlace(declaring, "its class " + declaring.getSimpleName() + " has", breaches);
        } else if (!method.isAnnotationPresent(PermitAll.class)) {
            checkPlace(method, "it has", breaches);
        }
    }

    private static boolean isAnnotated(Method method) {
        return method.isAnnotationPresent(PermitAll.class)
                || REFUSING.stream().anyMatch(method::isAnnotationPresent);
    }

    private static void checkPlace(AnnotatedElement place, String prefix, List<String> breaches) {
        for (Class<? extends Annotation> annotation : REFUSING) {
            if (place.isAnnotationPresent(annotation)) {
                breaches.add(prefix + " @" + annotation.getSimpleName()
                        + ", but the receiver calls without a caller's identity, so every event would be refused; put"
                        + " @PermitAll on the method, and @RunAs on the class if what it calls demands a role");
            }
        }
    }
}
