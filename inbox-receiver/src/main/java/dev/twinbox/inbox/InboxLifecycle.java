package dev.twinbox.inbox;

import jakarta.inject.Inject;
import jakarta.servlet.ServletContainerInitializer;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletContextEvent;
import jakarta.servlet.ServletContextListener;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Ties the receiver to the web application: it starts after, and stops before, all else of it. Public because the container
 * instantiates it; not for applications.
 *
 * <p>Not by CDI's Startup and Shutdown events: on Payara an observer in a library gets them while the EJB container is still
 * being set up. Not by a singleton EJB: it would be stopped after the application's CDI beans.
 */
public class InboxLifecycle implements ServletContainerInitializer {

    @Override
    public void onStartup(@Nullable Set<Class<?>> classes, ServletContext context) {
        // Added here it comes behind the application's own listeners, and at the end before them.
        context.addListener(Listener.class);
    }

    /** Public because the container instantiates it; not for applications. */
    public static class Listener implements ServletContextListener {

        @Inject
        private InboxReceiver receiver;

        @Override
        public void contextInitialized(ServletContextEvent event) {
            receiver.start();
        }

        @Override
        public void contextDestroyed(ServletContextEvent event) {
            receiver.stop();
        }
    }
}
