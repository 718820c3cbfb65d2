package dev.twinbox.outbox;

import dev.twinbox.Outbox;
import jakarta.inject.Inject;
import jakarta.servlet.ServletContainerInitializer;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletContextEvent;
import jakarta.servlet.ServletContextListener;
import jakarta.servlet.annotation.HandlesTypes;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Takes from the container the classes with {@link Outbox}, beans or not. CDI does not show an extension a class without a
 * scope, and what its methods return would never be published. Public because the container instantiates it; not for
 * applications.
 */
@HandlesTypes(Outbox.class)
public class OutboxScan implements ServletContainerInitializer {

    private static final String FOUND = OutboxScan.class.getName();

    @Override
    public void onStartup(@Nullable Set<Class<?>> classes, ServletContext context) {
        if (classes != null) {
            context.setAttribute(FOUND, Set.copyOf(classes));
            context.addListener(Listener.class);
        }
    }

    /** Public because the container instantiates it; not for applications. */
    public static class Listener implements ServletContextListener {

        @Inject
        private OutboxExtension extension;

        @Override
        @SuppressWarnings("unchecked")
        public void contextInitialized(ServletContextEvent event) {
            ServletContext context = event.getServletContext();
            extension.refuseUnseen((Set<Class<?>>) context.getAttribute(FOUND));
            context.removeAttribute(FOUND);
        }
    }
}
