package dev.twinbox.inbox;

import jakarta.inject.Inject;
import jakarta.servlet.ServletContainerInitializer;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletContextEvent;
import jakarta.servlet.ServletContextListener;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Starts and stops the receiver with the web application. The receiver starts after everything else of the application
 * and stops before it. Public because the container instantiates it; not for applications.
 *
 * <p>CDI's Startup and Shutdown events would not do: on Payara an observer in a library gets them while the EJB
 * container is still starting. A singleton EJB would not do either: it is stopped after the application's CDI beans.
 */
public class InboxLifecycle implements ServletContainerInitializer {

    @Override
    public void onStartup(@Nullable Set<Class<?>> classes, ServletContext context) {
        // Added here, it is started after the application's own listeners and stopped before them.
        context.addListener(Listener.class);
    }

    /** Public because the container instantiates it; not for applications. */
    public static class Listener implements ServletContextListener {

        @Inject
        private InboxReceiver receiver;

        @Override
        public void contextInitialized(ServletContextEvent event) {
            receiver.start(event.getServletContext());
        }

        @Override
        public void contextDestroyed(ServletContextEvent event) {
            receiver.stop();
        }
    }
}
