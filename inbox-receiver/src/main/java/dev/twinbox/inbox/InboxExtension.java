package dev.twinbox.inbox;

import dev.twinbox.InboxHandler;
import dev.twinbox.InvalidConfigurationException;
import dev.twinbox.config.ServerApis;
import dev.twinbox.inbox.config.InboxConfig;
import dev.twinbox.inbox.config.InboxConfigReader;
import dev.twinbox.inbox.event.EjbDescriptor;
import dev.twinbox.inbox.event.HandlerMethod;
import dev.twinbox.inbox.event.HandlerRules;
import dev.twinbox.inbox.event.HandlerRules.Candidate;
import dev.twinbox.inbox.event.UnseenHandlers;
import dev.twinbox.inbox.jdbc.NewTransaction;
import dev.twinbox.json.DefaultSerializer;
import dev.twinbox.thread.ContextClassLoader;
import jakarta.enterprise.context.RequestScoped;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.spi.AfterDeploymentValidation;
import jakarta.enterprise.inject.spi.Bean;
import jakarta.enterprise.inject.spi.BeanManager;
import jakarta.enterprise.inject.spi.Extension;
import jakarta.enterprise.inject.spi.ProcessAnnotatedType;
import jakarta.enterprise.inject.spi.ProcessBean;
import jakarta.enterprise.inject.spi.ProcessManagedBean;
import jakarta.enterprise.inject.spi.ProcessSessionBean;
import jakarta.enterprise.inject.spi.WithAnnotations;
import jakarta.servlet.ServletContext;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.eclipse.microprofile.config.ConfigProvider;
import org.jspecify.annotations.Nullable;

/**
 * Finds the {@code @InboxHandler} methods of the application. Refuses the deployment if one of them, or the
 * configuration, is wrong. Public because the container instantiates it; not for applications.
 */
public class InboxExtension implements Extension {

    private static final String CANNOT_WORK = "The inbox cannot work in this application";

    // Written while the application is deployed, by one thread.
    private final Set<Class<?>> annotatedClasses = new LinkedHashSet<>();
    private final List<Candidate> candidates = new ArrayList<>();
    private final List<Bean<?>> requestScoped = new ArrayList<>();
    private final Map<Class<?>, String> ejbNames = new HashMap<>();
    private final Set<Class<?>> beanClasses = new LinkedHashSet<>();
    private boolean hasOwnSerializer;
    private boolean hasOwnSessionBeans;
    private List<HandlerMethod> handlers = List.of();
    private @Nullable InboxConfig config;

    /** Written when the application starts, read by health checks. */
    private volatile @Nullable InboxStatus status;

    /** Whether {@link InboxMetrics} can be loaded. */
    boolean hasMetrics() {
        return ServerApis.haveMetrics();
    }

    void noteAnnotatedClass(@Observes @WithAnnotations(InboxHandler.class) ProcessAnnotatedType<?> event) {
        annotatedClasses.add(event.getAnnotatedType().getJavaClass());
    }

    /** Is also called for session beans, whose event is a subtype. */
    void noteBean(@Observes ProcessManagedBean<?> event) {
        Class<?> beanClass = event.getAnnotatedBeanClass().getJavaClass();
        boolean hasHandler = event.getAnnotatedBeanClass().getMethods().stream()
                .anyMatch(method -> method.isAnnotationPresent(InboxHandler.class));
        noteInterfaces(event.getBean());
        if (event instanceof ProcessSessionBean<?> session) {
            hasOwnSessionBeans |= beanClass == NewTransaction.class;
            ejbNames.put(beanClass, session.getEjbName());
        }
        if (hasHandler) {
            beanClasses.add(beanClass);
            candidates.add(new Candidate(
                    event.getBean(),
                    event.getAnnotatedBeanClass(),
                    event instanceof ProcessSessionBean<?> session ? session.getSessionBeanType() : null));
        }
    }

    /** Is called for beans of all kinds, those of producer methods included. */
    void noteScopeAndSerializer(@Observes ProcessBean<?> event) {
        if (event.getBean().getScope() == RequestScoped.class) {
            requestScoped.add(event.getBean());
        }
        hasOwnSerializer |= DefaultSerializer.isReplacedBy(event.getBean());
    }

    /** Notes annotated interfaces. Discovery does not report them, but an annotation there looks as if it worked. */
    private void noteInterfaces(Bean<?> bean) {
        for (Type type : bean.getTypes()) {
            if (type instanceof Class<?> known
                    && known.isInterface()
                    && Stream.of(known.getDeclaredMethods())
                            .anyMatch(method -> method.isAnnotationPresent(InboxHandler.class))) {
                annotatedClasses.add(known);
            }
        }
    }

    void validate(@Observes AfterDeploymentValidation event, BeanManager beans) {
        if (!annotatedClasses.isEmpty() || !candidates.isEmpty()) {
            ContextClassLoader.run(InboxExtension.class, () -> examine(event, beans));
        }
    }

    private void examine(AfterDeploymentValidation event, BeanManager beans) {
        HandlerRules rules = new HandlerRules(beans);
        if (hasOwnSerializer) {
            rules.allowAnyEventClass();
        }
        rules.examine(candidates);
        List<String> problems = new ArrayList<>(rules.problems());
        annotatedClasses.forEach(owner -> problems.addAll(UnseenHandlers.problems(owner, beanClasses)));
        if (!hasOwnSessionBeans) {
            problems.add("twinbox-inbox is not part of a web application, so the receiver would never start and "
                    + "receive nothing; put its jar into WEB-INF/lib of the WAR that has the handlers");
        }
        try {
            InboxConfig read = InboxConfigReader.read(ConfigProvider.getConfig(), rules.topics());
            config = read;
            if (read.workers() > 1) {
                problems.addAll(rules.problemsOfSeveralWorkers());
            }
        } catch (InvalidConfigurationException e) {
            problems.addAll(e.problems());
        }
        if (problems.isEmpty()) {
            handlers = List.copyOf(rules.handlers());
        } else {
            event.addDeploymentProblem(new InvalidConfigurationException(CANNOT_WORK, problems));
        }
        annotatedClasses.clear();
        candidates.clear();
    }

    /**
     * Checks what only the web application knows: classes that CDI did not show, and the deployment descriptor.
     *
     * @throws InvalidConfigurationException with all problems
     */
    void validate(ServletContext context) {
        List<String> problems = new ArrayList<>();
        HandlerScan.takeFrom(context)
                .forEach(owner -> problems.addAll(UnseenHandlers.problemsWithoutCdi(owner, beanClasses)));
        try (InputStream xml = context.getResourceAsStream("/WEB-INF/ejb-jar.xml")) {
            if (xml != null) {
                EjbDescriptor.read(xml).ifPresent(descriptor -> problems.addAll(problems(descriptor)));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        ejbNames.clear();
        beanClasses.clear();
        if (!problems.isEmpty()) {
            throw new InvalidConfigurationException(CANNOT_WORK, problems);
        }
    }

    private List<String> problems(EjbDescriptor descriptor) {
        return handlers.stream()
                .filter(handler -> ejbNames.containsKey(handler.bean().getBeanClass()))
                .flatMap(handler -> {
                    Class<?> owner = handler.bean().getBeanClass();
                    return descriptor.problems(ejbNames.getOrDefault(owner, ""), owner, handler.method()).stream();
                })
                .toList();
    }

    /** Called when the receiver starts. From now on the readiness check shows its status. */
    void started(InboxStatus ofReceiver) {
        status = ofReceiver;
    }

    /** Null if the application has not started yet. */
    @Nullable InboxStatus status() {
        return status;
    }

    /** Empty if the application handles no events. */
    List<HandlerMethod> handlers() {
        return handlers;
    }

    /** All beans of the request scope. */
    List<Bean<?>> requestScoped() {
        return List.copyOf(requestScoped);
    }

    InboxConfig config() {
        if (config == null) {
            throw new IllegalStateException("an application without handlers has no inbox configuration");
        }
        return config;
    }
}
