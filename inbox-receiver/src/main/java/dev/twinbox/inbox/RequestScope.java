package dev.twinbox.inbox;

import jakarta.enterprise.context.ContextNotActiveException;
import jakarta.enterprise.context.RequestScoped;
import jakarta.enterprise.context.spi.AlterableContext;
import jakarta.enterprise.context.spi.Context;
import jakarta.enterprise.inject.spi.Bean;
import jakarta.enterprise.inject.spi.BeanManager;
import java.util.List;

/**
 * The request scope in which handlers are called. One call of the EJB that begins a transaction is one request, so all
 * calls of a batch would share their instances. They are destroyed after each call instead. A scope that is activated in
 * between would not do: an active one stays.
 */
final class RequestScope {

    private final BeanManager beans;
    private final List<Bean<?>> scoped;

    /** @param scoped all beans of this scope */
    RequestScope(BeanManager beans, List<Bean<?>> scoped) {
        this.beans = beans;
        this.scoped = scoped;
    }

    /** Destroys all instances of the current request. */
    void clear() {
        if (scoped.isEmpty()) {
            return;
        }
        try {
            Context context = beans.getContext(RequestScoped.class);
            if (context instanceof AlterableContext instances) {
                scoped.forEach(bean -> destroy(instances, bean));
            }
        } catch (ContextNotActiveException e) {
            // There are no instances.
        }
    }

    private static void destroy(AlterableContext instances, Bean<?> bean) {
        if (instances.get(bean) != null) {
            instances.destroy(bean);
        }
    }
}
