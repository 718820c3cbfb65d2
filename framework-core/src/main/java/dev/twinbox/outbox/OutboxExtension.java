package dev.twinbox.outbox;

import dev.twinbox.InvalidConfigurationException;
import dev.twinbox.OutboxPublisher;
import dev.twinbox.json.DefaultSerializer;
import dev.twinbox.thread.ContextClassLoader;
import jakarta.ejb.MessageDriven;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.Alternative;
import jakarta.enterprise.inject.Vetoed;
import jakarta.enterprise.inject.spi.AfterDeploymentValidation;
import jakarta.enterprise.inject.spi.AnnotatedType;
import jakarta.enterprise.inject.spi.Extension;
import jakarta.enterprise.inject.spi.ProcessBean;
import jakarta.enterprise.inject.spi.ProcessInjectionPoint;
import jakarta.enterprise.inject.spi.ProcessManagedBean;
import jakarta.enterprise.inject.spi.ProcessSessionBean;
import jakarta.interceptor.Interceptor;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.eclipse.microprofile.config.Config;
import org.eclipse.microprofile.config.ConfigProvider;

/**
 * Refuses at deployment what would fail later: {@link dev.twinbox.Outbox} where it cannot work, and a wrong
 * configuration. All problems are in one exception.
 *
 * <p>An application that neither publishes nor configures anything is left alone. It may have this library only to
 * receive.
 *
 * <p>Public because the service loader demands it; not for applications.
 */
public class OutboxExtension implements Extension {

    private static final String CANNOT_WORK = "The outbox cannot work in this application";
    private static final Logger LOG = System.getLogger(OutboxExtension.class.getName());

    private final List<String> problems = new ArrayList<>();
    private final List<OutboxBean> publishers = new ArrayList<>();
    private final List<String> warnings = new ArrayList<>();
    private final Set<Class<?>> publishingClasses = new HashSet<>();
    private boolean hasOwnSerializer;
    private boolean used;

    /** Whether this application publishes, or is configured to. */
    boolean isOutboxUsed() {
        return used;
    }

    <T> void managedBeans(@Observes ProcessManagedBean<T> event) {
        // Also called for session beans, whose event is a subtype, and for our own interceptor.
        boolean isInterceptor = event.getAnnotatedBeanClass().isAnnotationPresent(Interceptor.class);
        if (!(event instanceof ProcessSessionBean) && !isInterceptor) {
            check(event.getAnnotatedBeanClass(), BeanKind.MANAGED_BEAN);
        }
    }

    <T> void sessionBeans(@Observes ProcessSessionBean<T> event) {
        @SuppressWarnings("unchecked") // the specification declares it for Object
        AnnotatedType<?> type = (AnnotatedType<?>) (Object) event.getAnnotatedBeanClass();
        check(type, BeanKind.SESSION_BEAN);
    }

    <T> void publishers(@Observes ProcessInjectionPoint<T, OutboxPublisher> event) {
        Class<?> declaring = event.getInjectionPoint().getMember().getDeclaringClass();
        used |= !declaring.equals(OutboxInterceptor.class);
    }

    void serializers(@Observes ProcessBean<?> event) {
        hasOwnSerializer |= DefaultSerializer.isReplacedBy(event.getBean());
    }

    void validate(@Observes AfterDeploymentValidation event) {
        ContextClassLoader.run(OutboxExtension.class, () -> examine(event));
    }

    private void examine(AfterDeploymentValidation event) {
        if (!hasOwnSerializer) {
            publishers.forEach(publisher -> problems.addAll(publisher.jsonProblems()));
        }
        publishers.clear();
        Config config = ConfigProvider.getConfig();
        used |= OutboxSettings.isAnySet(config);
        if (used) {
            problems.addAll(OutboxSettings.problems(config));
            config.getOptionalValue(OutboxSettings.DATA_SOURCE.key(), String.class)
                    .ifPresent(dataSource -> problems.addAll(
                            PersistenceUnits.problems(Thread.currentThread().getContextClassLoader(), dataSource)));
        }
        warnings.forEach(warning -> LOG.log(Level.WARNING, warning));
        if (!problems.isEmpty()) {
            problems.sort(null); // containers visit beans and methods in any order
            event.addDeploymentProblem(new InvalidConfigurationException(CANNOT_WORK, problems));
        }
    }

    /**
     * Refuses classes whose annotation nobody heeds, because they are no beans.
     *
     * @param annotated the classes of the web application with {@link dev.twinbox.Outbox}
     * @throws InvalidConfigurationException with all problems
     */
    void refuseUnseen(Set<Class<?>> annotated) {
        List<String> unseen = new ArrayList<>();
        for (Class<?> owner : annotated) {
            if (isConcrete(owner) && publishingClasses.stream().noneMatch(owner::isAssignableFrom)) {
                String problem = owner.getName() + ": has @Outbox and is neither a CDI bean nor a session bean, so its"
                        + " calls are not intercepted and publish nothing; give it a scope such as @ApplicationScoped,"
                        + " or @Stateless, or call OutboxPublisher instead";
                unseen.add(problem);
            }
        }
        if (!unseen.isEmpty()) {
            unseen.sort(null);
            throw new InvalidConfigurationException(CANNOT_WORK, unseen);
        }
    }

    /** A message-driven bean is intercepted, although CDI does not show it. */
    private static boolean isConcrete(Class<?> owner) {
        return !Modifier.isAbstract(owner.getModifiers())
                && Stream.of(Interceptor.class, MessageDriven.class, Alternative.class, Vetoed.class)
                        .noneMatch(owner::isAnnotationPresent);
    }

    private void check(AnnotatedType<?> type, BeanKind kind) {
        OutboxBean bean = new OutboxBean(type, kind);
        used |= bean.isPublishing();
        if (bean.isPublishing()) {
            publishingClasses.add(type.getJavaClass());
        }
        problems.addAll(bean.problems());
        publishers.add(bean);
        warnings.addAll(bean.warnings());
    }
}
