package dev.twinbox.outbox;

import dev.twinbox.EventType;
import dev.twinbox.InvalidEventException;
import dev.twinbox.Outbox;
import dev.twinbox.OutboxEvent;
import dev.twinbox.json.JsonEvents;
import jakarta.annotation.PostConstruct;
import jakarta.annotation.PreDestroy;
import jakarta.ejb.TransactionAttribute;
import jakarta.ejb.TransactionAttributeType;
import jakarta.ejb.TransactionManagement;
import jakarta.ejb.TransactionManagementType;
import jakarta.enterprise.inject.Stereotype;
import jakarta.enterprise.inject.spi.Annotated;
import jakarta.enterprise.inject.spi.AnnotatedMethod;
import jakarta.enterprise.inject.spi.AnnotatedType;
import jakarta.transaction.Transactional;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Checks the {@link Outbox} methods of one bean class. */
final class OutboxBean {

    private final AnnotatedType<?> type;
    private final BeanKind kind;
    private final List<String> problems = new ArrayList<>();
    private final List<String> warnings = new ArrayList<>();
    private final List<Published> published = new ArrayList<>();
    private boolean publishing;

    /**
     * A class of events that a method returns.
     *
     * @param key its property that is the key; empty: none
     */
    private record Published(Method method, Class<?> eventClass, String key) {}

    OutboxBean(AnnotatedType<?> type, BeanKind kind) {
        this.type = type;
        this.kind = kind;
        Outbox onClass = type.getAnnotation(Outbox.class);
        for (AnnotatedMethod<?> method : type.getMethods()) {
            Outbox onMethod = method.getAnnotation(Outbox.class);
            if (isOverridden(method.getJavaMember())) {
                continue; // the overriding method is called, and its annotation counts
            }
            if (onMethod != null) {
                check(method, onMethod);
            } else if (onClass != null && isBusinessMethod(method)) {
                check(method, onClass);
            } else if (isBusinessMethod(method)) {
                checkSupertypes(method.getJavaMember());
            }
        }
    }

    /** Whether there is at least one {@link Outbox} method. */
    boolean isPublishing() {
        return publishing;
    }

    /** One sentence each: class and method, the rule broken, the remedy. */
    List<String> problems() {
        return problems;
    }

    /** As {@link #problems}: what JSON-B would leave out of the events. For applications without a serializer of their own. */
    List<String> jsonProblems() {
        List<String> found = new ArrayList<>();
        for (Published each : published) {
            JsonEvents.writingProblems(each.eventClass()).forEach(text -> found.add(place(each.method()) + " " + text));
            String keyProblem = each.key().isEmpty() ? null : JsonEvents.keyProblem(each.eventClass(), each.key());
            if (keyProblem != null) {
                found.add(place(each.method()) + " " + keyProblem);
            }
        }
        return found;
    }

    /** Methods that work only if each caller brings a transaction. */
    List<String> warnings() {
        return warnings;
    }

    private void check(AnnotatedMethod<?> annotated, Outbox outbox) {
        Method method = annotated.getJavaMember();
        if (method.isBridge()) {
            return;
        }
        publishing = true;
        checkInterceptable(annotated);
        checkTransaction(annotated);
        checkAttribute(method, "topic of @Outbox", () -> named(outbox.topic(), OutboxEvent.of("")::withTopic));
        checkAttribute(method, "type of @Outbox", () -> named(outbox.type(), OutboxEvent.of("")::withType));
        ReturnType returned = ReturnType.of(method.getGenericReturnType());
        switch (returned.shape()) {
            case EVENT -> checkEventClass(method, outbox, returned.eventClass());
            case COMPLETE -> {
                // An OutboxEvent has its own topic and type; what it lacks is found when it is published.
            }
            case UNSUPPORTED ->
                problem(
                        method,
                        "returns " + method.getGenericReturnType().getTypeName()
                                + ": return an event, an OutboxEvent, or an Optional, Collection or Stream of either");
        }
    }

    private boolean isOverridden(Method method) {
        if (Modifier.isPrivate(method.getModifiers()) || Modifier.isStatic(method.getModifiers())) {
            return false;
        }
        for (Class<?> c = type.getJavaClass(); c != null && c != method.getDeclaringClass(); c = c.getSuperclass()) {
            if (declared(c, method).isPresent()) {
                return true;
            }
        }
        return false;
    }

    private static Optional<Method> declared(Class<?> declaring, Method method) {
        try {
            return Optional.of(declaring.getDeclaredMethod(method.getName(), method.getParameterTypes()));
        } catch (NoSuchMethodException e) {
            return Optional.empty();
        }
    }

    /**
     * CDI takes interceptor bindings from the bean's class and from the method that is called. On an interface, on an
     * overridden method or on a superclass they do nothing.
     */
    private void checkSupertypes(Method method) {
        for (Type supertype : type.getTypeClosure()) {
            if (supertype instanceof Class<?> c && c != type.getJavaClass() && isPublishing(c, method)) {
                publishing = true;
                problem(
                        method,
                        "@Outbox on the " + (c.isInterface() ? "interface " : "superclass ") + c.getName()
                                + " is not seen by CDI: put it on this method, or it publishes nothing");
            }
        }
    }

    private static boolean isPublishing(Class<?> declaring, Method method) {
        return declared(declaring, method)
                .filter(same -> same.isAnnotationPresent(Outbox.class) || declaring.isAnnotationPresent(Outbox.class))
                .isPresent();
    }

    private static void named(String value, Function<String, OutboxEvent> part) {
        OutboxEvent unused = value.isEmpty() ? null : part.apply(value);
    }

    private void checkAttribute(Method method, String name, Runnable check) {
        try {
            check.run();
        } catch (InvalidEventException e) {
            problem(method, name + ": " + e.getMessage());
        }
    }

    private void checkInterceptable(AnnotatedMethod<?> annotated) {
        Method method = annotated.getJavaMember();
        int modifiers = method.getModifiers();
        if (Modifier.isPrivate(modifiers) || Modifier.isStatic(modifiers) || Modifier.isFinal(modifiers)) {
            problem(
                    method,
                    "is private, static or final: calls of it cannot be intercepted; make it an ordinary method");
        } else if (kind == BeanKind.SESSION_BEAN && !Modifier.isPublic(modifiers)) {
            problem(method, "is not public: it is no business method of the session bean; make it public");
        }
        if (isLifecycleCallback(annotated)) {
            problem(method, "is a lifecycle callback: the container's call is not intercepted; inject OutboxPublisher");
        }
    }

    private void checkTransaction(AnnotatedMethod<?> annotated) {
        switch (kind) {
            case SESSION_BEAN -> checkSessionBeanTransaction(annotated);
            case MANAGED_BEAN -> checkManagedBeanTransaction(annotated);
        }
    }

    private void checkSessionBeanTransaction(AnnotatedMethod<?> annotated) {
        Method method = annotated.getJavaMember();
        TransactionManagement management = type.getAnnotation(TransactionManagement.class);
        if (management != null && management.value() == TransactionManagementType.BEAN) {
            problem(
                    method,
                    "belongs to a bean with bean-managed transactions: when it returns there is none to publish in;"
                            + " use container-managed transactions, or call OutboxPublisher inside your own");
            return;
        }
        TransactionAttribute attribute = find(annotated, TransactionAttribute.class);
        TransactionAttributeType value = attribute == null ? TransactionAttributeType.REQUIRED : attribute.value();
        switch (value) {
            case NOT_SUPPORTED, NEVER -> problem(method, neverTransactional(value.name()));
            case SUPPORTS -> warn(method, "is @TransactionAttribute(SUPPORTS)");
            case REQUIRED, REQUIRES_NEW, MANDATORY -> {
                // Runs in a transaction, or the container refuses the call.
            }
        }
    }

    private void checkManagedBeanTransaction(AnnotatedMethod<?> annotated) {
        Method method = annotated.getJavaMember();
        Transactional transactional = find(annotated, Transactional.class);
        if (transactional == null) {
            warn(method, "has no @Transactional");
            return;
        }
        switch (transactional.value()) {
            case NOT_SUPPORTED, NEVER ->
                problem(method, neverTransactional(transactional.value().name()));
            case SUPPORTS -> warn(method, "is @Transactional(SUPPORTS)");
            case REQUIRED, REQUIRES_NEW, MANDATORY -> {
                // Runs in a transaction, or the container refuses the call.
            }
        }
    }

    private static String neverTransactional(String attribute) {
        return "has the transaction attribute " + attribute
                + ": it never runs in a transaction to publish in; use REQUIRED, REQUIRES_NEW or MANDATORY";
    }

    private void checkEventClass(Method method, Outbox outbox, Class<?> eventClass) {
        for (Class<?> concrete : ReturnType.concreteClasses(eventClass)) {
            checkConcreteClass(method, outbox, concrete);
        }
    }

    private void checkConcreteClass(Method method, Outbox outbox, Class<?> eventClass) {
        EventType named = eventClass.getAnnotation(EventType.class);
        if (outbox.topic().isEmpty() && (named == null || named.topic().isEmpty())) {
            problem(
                    method,
                    "no topic: neither @Outbox nor @EventType on " + eventClass.getTypeName()
                            + " names one; name it in one of them");
        }
        if (outbox.type().isEmpty() && (named == null || named.value().isEmpty())) {
            problem(
                    method,
                    "no type: neither @Outbox nor @EventType on " + eventClass.getTypeName()
                            + " names one; name it in one of them");
        }
        if (named != null) {
            checkAttribute(
                    method,
                    "topic of @EventType on " + eventClass.getTypeName(),
                    () -> named(named.topic(), OutboxEvent.of("")::withTopic));
            checkAttribute(
                    method,
                    "value of @EventType on " + eventClass.getTypeName(),
                    () -> named(named.value(), OutboxEvent.of("")::withType));
        }
        String key = !outbox.key().isEmpty() ? outbox.key() : named == null ? "" : named.key();
        if (!key.isEmpty()) {
            try {
                KeyProperty.of(eventClass, key);
            } catch (IllegalArgumentException e) {
                problem(method, String.valueOf(e.getMessage()));
                key = "";
            }
        }
        published.add(new Published(method, eventClass, key));
    }

    /** The annotation of the method, else of the class, else of a stereotype of the class. */
    private <A extends Annotation> @Nullable A find(Annotated method, Class<A> annotation) {
        A onMethod = method.getAnnotation(annotation);
        A found = onMethod != null ? onMethod : type.getAnnotation(annotation);
        return found != null ? found : ofStereotype(annotation);
    }

    private <A extends Annotation> @Nullable A ofStereotype(Class<A> annotation) {
        return type.getAnnotations().stream()
                .map(Annotation::annotationType)
                .filter(candidate -> candidate.isAnnotationPresent(Stereotype.class))
                .map(stereotype -> stereotype.getAnnotation(annotation))
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    private boolean isBusinessMethod(AnnotatedMethod<?> annotated) {
        Method method = annotated.getJavaMember();
        int modifiers = method.getModifiers();
        boolean visible = kind == BeanKind.SESSION_BEAN ? Modifier.isPublic(modifiers) : !Modifier.isPrivate(modifiers);
        return visible
                && !Modifier.isStatic(modifiers)
                && !method.isSynthetic()
                && method.getDeclaringClass() != Object.class
                && !isLifecycleCallback(annotated);
    }

    private static boolean isLifecycleCallback(Annotated method) {
        return method.isAnnotationPresent(PostConstruct.class) || method.isAnnotationPresent(PreDestroy.class);
    }

    private void problem(Method method, String text) {
        problems.add(place(method) + " " + text);
    }

    private void warn(Method method, String text) {
        warnings.add("@Outbox method " + place(method) + " " + text
                + ": it publishes only if its caller has a transaction, and throws if not; use REQUIRED or MANDATORY");
    }

    private String place(Method method) {
        return type.getJavaClass().getName() + "." + method.getName() + ":";
    }
}
