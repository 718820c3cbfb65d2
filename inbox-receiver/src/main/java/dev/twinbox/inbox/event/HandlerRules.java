package dev.twinbox.inbox.event;

import dev.twinbox.InboxHandler;
import dev.twinbox.Outbox;
import dev.twinbox.json.JsonEvents;
import jakarta.ejb.TransactionAttribute;
import jakarta.ejb.TransactionAttributeType;
import jakarta.ejb.TransactionManagement;
import jakarta.ejb.TransactionManagementType;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.Dependent;
import jakarta.enterprise.inject.spi.AnnotatedMethod;
import jakarta.enterprise.inject.spi.AnnotatedType;
import jakarta.enterprise.inject.spi.Bean;
import jakarta.enterprise.inject.spi.BeanManager;
import jakarta.enterprise.inject.spi.SessionBeanType;
import jakarta.inject.Singleton;
import jakarta.transaction.Transactional;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Checks that methods are legal handlers. It collects every problem of every method, so that one deployment shows them
 * all.
 */
public final class HandlerRules {

    private static final int LONGEST_NAME = 200;

    private static final Set<Class<? extends Annotation>> SCOPES =
            Set.of(ApplicationScoped.class, Singleton.class, Dependent.class);

    /** By name, because the last one is only on servers with MicroProfile Fault Tolerance. */
    private static final Set<String> ASYNCHRONOUS = Set.of(
            "jakarta.ejb.Asynchronous",
            "jakarta.enterprise.concurrent.Asynchronous",
            "org.eclipse.microprofile.faulttolerance.Asynchronous");

    private final BeanManager beans;
    private boolean hasOwnSerializer;
    private final List<String> problems = new ArrayList<>();
    private final List<HandlerMethod> handlers = new ArrayList<>();
    private final Set<String> topics = new TreeSet<>();
    private final List<String> problemsOfSeveralWorkers = new ArrayList<>();

    public HandlerRules(BeanManager beans) {
        this.beans = beans;
    }

    /** The application reads its events by a serializer of its own, so they need not be fit for JSON-B. */
    public void allowAnyEventClass() {
        hasOwnSerializer = true;
    }

    /**
     * A bean as CDI reported it.
     *
     * @param sessionBean null if it is a CDI bean, not an EJB
     */
    public record Candidate(
            Bean<?> bean, AnnotatedType<?> type, @Nullable SessionBeanType sessionBean) {}

    /** One sentence for each problem: class, method, rule and remedy. */
    public List<String> problems() {
        return problems;
    }

    /** What is a problem only if several workers call handlers at the same time. One sentence for each. */
    public List<String> problemsOfSeveralWorkers() {
        return problemsOfSeveralWorkers;
    }

    /** The legal handlers in order of their names. The handlers of one event are called in this order. */
    public List<HandlerMethod> handlers() {
        return handlers;
    }

    public void examine(List<Candidate> candidates) {
        for (Candidate candidate : candidates) {
            for (AnnotatedMethod<?> method : candidate.type().getMethods()) {
                InboxHandler annotation = method.getAnnotation(InboxHandler.class);
                if (annotation != null
                        && !UnseenHandlers.isReplaced(candidate.type().getJavaClass(), method.getJavaMember())) {
                    examine(candidate, method, annotation);
                }
            }
        }
        handlers.sort(Comparator.comparing(HandlerMethod::name));
        refuseEqualNames();
        problems.addAll(Aliases.problems(handlers));
    }

    /** The topics of all handlers, illegal ones included. */
    public Set<String> topics() {
        return topics;
    }

    private void examine(Candidate candidate, AnnotatedMethod<?> annotated, InboxHandler annotation) {
        Class<?> owner = candidate.type().getJavaClass();
        Method method = annotated.getJavaMember();
        HandlerDeclaration declaration = HandlerDeclaration.of(method, annotation);
        List<String> breaches = new ArrayList<>();
        checkModifiers(method, breaches);
        checkScope(candidate, breaches);
        checkTransaction(candidate, annotated, breaches);
        checkAsynchronous(candidate, annotated, breaches);
        FaultTolerance.check(annotations(candidate.type(), annotated), breaches);
        checkReturnType(candidate, annotated, breaches);
        if (candidate.sessionBean() != null) {
            RoleRules.check(method, breaches);
        }
        declaration.check(UnseenHandlers.parameters(method), breaches);
        HandlerOptions options = HandlerOptions.of(annotation, method, declaration.shape(), breaches);
        checkEventClass(declaration.eventClass(), breaches);
        if (!declaration.topic().isEmpty()) {
            topics.add(declaration.topic());
        }
        String name = annotation.name().isEmpty() ? owner.getSimpleName() + "." + method.getName() : annotation.name();
        if (name.length() > LONGEST_NAME || name.indexOf('\0') >= 0) {
            breaches.add("its name has " + name.length() + " characters; at most " + LONGEST_NAME
                    + " and no U+0000 are allowed: give it a shorter one with @InboxHandler(name = ...)");
        }
        Optional<View> view = view(candidate, method);
        if (view.isEmpty()) {
            breaches.add(
                    "it is in none of the session bean's local views; add it to the local business interface, or add "
                            + "@LocalBean to the class");
        }
        if (ContainerLock.isExclusive(candidate.sessionBean(), candidate.type(), annotated)) {
            problemsOfSeveralWorkers.add(UnseenHandlers.describe(owner, method) + ": " + ContainerLock.BREACH);
        }
        breaches.forEach(breach -> problems.add(UnseenHandlers.describe(owner, method) + ": " + breach));
        if (breaches.isEmpty()) {
            add(name, annotation, options, declaration, candidate.bean(), view.orElseThrow());
        }
    }

    /** A class that JSON-B cannot read would have each of its events parked. */
    private void checkEventClass(@Nullable Class<?> eventClass, List<String> breaches) {
        if (!hasOwnSerializer && eventClass != null && eventClass != byte[].class && eventClass != String.class) {
            breaches.addAll(JsonEvents.readingProblems(eventClass));
        }
    }

    private void add(
            String name,
            InboxHandler annotation,
            HandlerOptions options,
            HandlerDeclaration declaration,
            Bean<?> bean,
            View through) {
        HandlerShape shape = declaration.shape();
        Class<?> eventClass = declaration.eventClass();
        if (shape != null && eventClass != null) {
            handlers.add(new HandlerMethod(
                    name,
                    declaration.topic(),
                    declaration.type(),
                    declaration.aliases(),
                    annotation.delivery(),
                    shape,
                    options,
                    eventClass,
                    annotation.reading(),
                    through.method(),
                    bean,
                    through.type()));
        }
    }

    private static void checkModifiers(Method method, List<String> breaches) {
        int modifiers = method.getModifiers();
        if (!Modifier.isPublic(modifiers)) {
            breaches.add("it is not public; make it public, because interceptors and EJB containers see no others");
        }
        if (Modifier.isStatic(modifiers)) {
            breaches.add("it is static; remove static, because a handler is called on its bean");
        }
        if (Modifier.isFinal(modifiers)) {
            breaches.add("it is final; remove final, because a proxy could not intercept it");
        }
    }

    private static void checkScope(Candidate candidate, List<String> breaches) {
        if (candidate.sessionBean() == SessionBeanType.STATEFUL) {
            breaches.add("its class is a @Stateful bean, which belongs to one client; use @Stateless or @Singleton");
        } else if (candidate.sessionBean() == null
                && !SCOPES.contains(candidate.bean().getScope())) {
            breaches.add("its bean is @" + candidate.bean().getScope().getSimpleName()
                    + "; one instance handles many events, so it must be @ApplicationScoped, @Singleton or "
                    + "@Dependent (it may inject @RequestScoped beans)");
        }
    }

    private void checkTransaction(Candidate candidate, AnnotatedMethod<?> method, List<String> breaches) {
        if (candidate.sessionBean() != null) {
            checkEjbTransaction(candidate, method, breaches);
        }
        transactional(candidate.type(), method).ifPresent(transactional -> {
            if (isNotOurs(transactional.value().name())) {
                breaches.add("@Transactional(" + transactional.value()
                        + ") would run it outside the receiver's transaction, so its effect and the inbox row would "
                        + "not commit together; use REQUIRED, MANDATORY or SUPPORTS");
            }
        });
    }

    private static void checkEjbTransaction(Candidate candidate, AnnotatedMethod<?> method, List<String> breaches) {
        TransactionManagement management = candidate.type().getAnnotation(TransactionManagement.class);
        if (management != null && management.value() == TransactionManagementType.BEAN) {
            breaches.add("its class manages transactions itself (@TransactionManagement(BEAN)), which suspends the "
                    + "receiver's transaction; use container-managed transactions");
            return;
        }
        TransactionAttribute attribute = method.getAnnotation(TransactionAttribute.class);
        if (attribute == null) {
            // By the EJB specification, the attribute of the class that declares the method counts.
            attribute = method.getJavaMember().getDeclaringClass().getAnnotation(TransactionAttribute.class);
        }
        TransactionAttributeType type = attribute == null ? TransactionAttributeType.REQUIRED : attribute.value();
        if (isNotOurs(type.name())) {
            breaches.add("@TransactionAttribute(" + type
                    + ") would run it outside the receiver's transaction, so its effect and the inbox row would "
                    + "not commit together; use REQUIRED, MANDATORY or SUPPORTS");
        }
    }

    private static boolean isNotOurs(String attribute) {
        return attribute.equals("REQUIRES_NEW") || attribute.equals("NOT_SUPPORTED") || attribute.equals("NEVER");
    }

    private Optional<Transactional> transactional(AnnotatedType<?> type, AnnotatedMethod<?> method) {
        return annotations(type, method)
                .filter(Transactional.class::isInstance)
                .map(Transactional.class::cast)
                .findFirst();
    }

    private Stream<Annotation> annotations(AnnotatedType<?> type, AnnotatedMethod<?> method) {
        return BeanAnnotations.of(type, method, beans);
    }

    private void checkAsynchronous(Candidate candidate, AnnotatedMethod<?> method, List<String> breaches) {
        annotations(candidate.type(), method)
                .map(annotation -> annotation.annotationType().getName())
                .filter(ASYNCHRONOUS::contains)
                .findFirst()
                .ifPresent(name -> breaches.add("it is asynchronous (@" + name
                        + "), so the receiver could not know whether it succeeded; remove the annotation"));
    }

    /** A result that nobody reads is a mistake, and a future is dangerous. With @Outbox the result is published. */
    private void checkReturnType(Candidate candidate, AnnotatedMethod<?> method, List<String> breaches) {
        Class<?> result = method.getJavaMember().getReturnType();
        if (result != void.class
                && annotations(candidate.type(), method).noneMatch(annotation -> annotation instanceof Outbox)) {
            breaches.add("it returns " + result.getSimpleName()
                    + ", which would be lost; return void, or publish the result with @Outbox");
        }
    }

    /** The bean type through which the method can be called, and the method as that type declares it. */
    private record View(Type type, Method method) {}

    private static Optional<View> view(Candidate candidate, Method method) {
        Class<?> owner = candidate.type().getJavaClass();
        if (candidate.sessionBean() == null) {
            return Optional.of(new View(owner, method));
        }
        // The types of a session bean without a no-interface view do not include its own class.
        List<Class<?>> views = new ArrayList<>();
        for (Type type : candidate.bean().getTypes()) {
            Type raw = type instanceof ParameterizedType generic ? generic.getRawType() : type;
            if (raw instanceof Class<?> view && (view == owner || view.isInterface())) {
                views.add(view);
            }
        }
        views.sort(Comparator.comparing((Class<?> view) -> view != owner).thenComparing(Class::getName));
        return views.stream()
                .flatMap(view -> Stream.of(view.getMethods())
                        .filter(m -> !m.isBridge() && leadsTo(m, owner, method))
                        .map(m -> new View(view, m)))
                .findFirst()
                // This method is reported as not public, not as missing from a view.
                .or(() -> Modifier.isPublic(method.getModifiers())
                        ? Optional.empty()
                        : Optional.of(new View(owner, method)));
    }

    /** Whether a call of the view's method calls the handler, be it by a bridge method, as for a generic interface. */
    private static boolean leadsTo(Method ofView, Class<?> owner, Method handler) {
        if (!ofView.getName().equals(handler.getName()) || ofView.getParameterCount() != handler.getParameterCount()) {
            return false;
        }
        List<Class<?>> parameters = List.of(handler.getParameterTypes());
        if (List.of(ofView.getParameterTypes()).equals(parameters)) {
            return true;
        }
        return Stream.of(owner.getMethods())
                .anyMatch(m -> m.isBridge()
                        && m.getName().equals(handler.getName())
                        && Arrays.equals(m.getParameterTypes(), ofView.getParameterTypes())
                        && m.getParameterTypes()[0].isAssignableFrom(parameters.get(0)));
    }

    private void refuseEqualNames() {
        Map<String, List<HandlerMethod>> byName = handlers.stream()
                .collect(Collectors.groupingBy(HandlerMethod::name, LinkedHashMap::new, Collectors.toList()));
        byName.forEach((name, same) -> {
            if (same.size() > 1) {
                problems.add("handlers "
                        + same.stream()
                                .map(h -> UnseenHandlers.describe(h.bean().getBeanClass(), h.method()))
                                .sorted()
                                .collect(Collectors.joining(" and "))
                        + " have one name, \"" + name
                        + "\", so each would skip the other's events as duplicates; give each its own with "
                        + "@InboxHandler(name = ...)");
            }
        });
    }
}
