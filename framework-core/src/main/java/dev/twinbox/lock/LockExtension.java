package dev.twinbox.lock;

import dev.twinbox.InboxHandler;
import dev.twinbox.InvalidConfigurationException;
import dev.twinbox.KeyLocks;
import dev.twinbox.thread.ContextClassLoader;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.Instance;
import jakarta.enterprise.inject.spi.AfterDeploymentValidation;
import jakarta.enterprise.inject.spi.Extension;
import jakarta.enterprise.inject.spi.ProcessAnnotatedType;
import jakarta.enterprise.inject.spi.ProcessInjectionPoint;
import jakarta.enterprise.inject.spi.WithAnnotations;
import jakarta.inject.Provider;
import java.util.List;
import org.eclipse.microprofile.config.Config;
import org.eclipse.microprofile.config.ConfigProvider;

/**
 * Refuses a wrong configuration of locks at deployment. An application that neither injects nor configures them, nor
 * guards a handler, is left alone.
 *
 * <p>Public because the service loader demands it; not for applications.
 */
public class LockExtension implements Extension {

    private boolean used;

    /** Whether this application injects locks, or configures them. */
    boolean isUsed() {
        return used;
    }

    <T> void locks(@Observes ProcessInjectionPoint<T, KeyLocks> event) {
        used = true;
    }

    <T> void instances(@Observes ProcessInjectionPoint<T, Instance<KeyLocks>> event) {
        used = true;
    }

    <T> void providers(@Observes ProcessInjectionPoint<T, Provider<KeyLocks>> event) {
        used = true;
    }

    /** Guarded handlers use locks without injecting them. */
    <T> void handlers(@Observes @WithAnnotations(InboxHandler.class) ProcessAnnotatedType<T> event) {
        used |= event.getAnnotatedType().getMethods().stream()
                .map(method -> method.getAnnotation(InboxHandler.class))
                .anyMatch(handler -> handler != null && handler.guard());
    }

    void validate(@Observes AfterDeploymentValidation event) {
        Config config = ContextClassLoader.call(LockExtension.class, ConfigProvider::getConfig);
        used |= LockSettings.isAnySet(config);
        List<String> problems = used ? LockSettings.problems(config) : List.of();
        if (!problems.isEmpty()) {
            event.addDeploymentProblem(
                    new InvalidConfigurationException("The locks cannot work in this application", problems));
        }
    }
}
