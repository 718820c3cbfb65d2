package dev.twinbox.inbox;

import dev.twinbox.InboxHandler;
import jakarta.servlet.ServletContainerInitializer;
import jakarta.servlet.ServletContext;
import jakarta.servlet.annotation.HandlesTypes;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Takes from the container the classes with {@link InboxHandler} methods, beans or not. CDI does not show an extension a
 * class without a scope, so its handlers would be passed over without a word. Public because the container instantiates
 * it; not for applications.
 */
@HandlesTypes(InboxHandler.class)
public class HandlerScan implements ServletContainerInitializer {

    private static final String FOUND = HandlerScan.class.getName();

    @Override
    public void onStartup(@Nullable Set<Class<?>> classes, ServletContext context) {
        context.setAttribute(FOUND, classes == null ? Set.of() : Set.copyOf(classes));
    }

    /** The classes that it has found, taken out of the context. */
    @SuppressWarnings("unchecked")
    static Set<Class<?>> takeFrom(ServletContext context) {
        Object found = context.getAttribute(FOUND);
        context.removeAttribute(FOUND);
        return found == null ? Set.of() : (Set<Class<?>>) found;
    }
}
